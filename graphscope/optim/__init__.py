"""Optimizers: they change parameters by their gradients, in place."""

from graphscope.optim import adam, lr_scheduler, swa_utils
from graphscope.optim.adam import Adam, AdamW
from graphscope.optim.adam_variants import Adamax, NAdam, RAdam
from graphscope.optim.adaptive import Adadelta, Adagrad, RMSprop, Rprop
from graphscope.optim.asgd import ASGD
from graphscope.optim.lbfgs import LBFGS
from graphscope.optim.matrix import Adafactor, Muon
from graphscope.optim.optimizer import Optimizer
from graphscope.optim.sgd import SGD

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
