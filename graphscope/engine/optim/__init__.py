"""Optimizers: they change parameters by their gradients, in place."""

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.optim import adam
from graphscope.engine.optim import lr_scheduler as lr_scheduler
from graphscope.engine.optim.adam import Adam as Adam
from graphscope.engine.optim.adam import AdamW as AdamW
from graphscope.engine.optim.adam_variants import Adamax as Adamax
from graphscope.engine.optim.adam_variants import NAdam as NAdam
from graphscope.engine.optim.adam_variants import RAdam as RAdam
from graphscope.engine.optim.adaptive import Adadelta as Adadelta
from graphscope.engine.optim.adaptive import Adagrad as Adagrad
from graphscope.engine.optim.adaptive import RMSprop as RMSprop
from graphscope.engine.optim.lbfgs import LBFGS as LBFGS
from graphscope.engine.optim.optimizer import Optimizer as Optimizer
from graphscope.engine.optim.sgd import SGD as SGD

adamw = adam  # PyTorch has a module for it

_answer_for(__name__)
