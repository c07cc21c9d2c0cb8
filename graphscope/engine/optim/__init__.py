"""Optimizers: they change parameters by their gradients, in place."""

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.optim import adam, lr_scheduler, swa_utils
from graphscope.engine.optim.adam import Adam, AdamW
from graphscope.engine.optim.adam_variants import Adamax, NAdam, RAdam
from graphscope.engine.optim.adaptive import Adadelta, Adagrad, RMSprop
from graphscope.engine.optim.lbfgs import LBFGS
from graphscope.engine.optim.optimizer import Optimizer
from graphscope.engine.optim.sgd import SGD

adamw = adam  # PyTorch has a module for it

__all__ = [
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "lr_scheduler",
    "swa_utils",
]

_answer_for(__name__)
