"""Optimizers: they change parameters by their gradients, in place."""

from graphscope.engine.optim import adam, lr_scheduler, swa_utils
from graphscope.engine.optim.adam import Adam, AdamW
from graphscope.engine.optim.adam_variants import Adamax, NAdam, RAdam
from graphscope.engine.optim.adaptive import Adadelta, Adagrad, RMSprop, Rprop
from graphscope.engine.optim.asgd import ASGD
from graphscope.engine.optim.lbfgs import LBFGS
from graphscope.engine.optim.matrix import Adafactor, Muon
from graphscope.engine.optim.optimizer import Optimizer
from graphscope.engine.optim.sgd import SGD

adamw = adam  # PyTorch has a module for it

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
    "swa_utils",
]
