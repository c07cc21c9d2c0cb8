"""Schedulers: they change the learning rate of an optimizer from epoch to epoch."""

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.optim.lr_scheduler.combined import ChainedScheduler, SequentialLR
from graphscope.engine.optim.lr_scheduler.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from graphscope.engine.optim.lr_scheduler.factors import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from graphscope.engine.optim.lr_scheduler.one_cycle import OneCycleLR
from graphscope.engine.optim.lr_scheduler.plateau import ReduceLROnPlateau
from graphscope.engine.optim.lr_scheduler.scheduler import LRScheduler

_LRScheduler = LRScheduler  # as older programs call it

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

_answer_for(__name__)
