"""Schedulers: they change the learning rate of an optimizer from epoch to epoch."""

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.optim.lr_scheduler.cosine import CosineAnnealingLR as CosineAnnealingLR
from graphscope.engine.optim.lr_scheduler.cosine import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from graphscope.engine.optim.lr_scheduler.factors import ConstantLR as ConstantLR
from graphscope.engine.optim.lr_scheduler.factors import ExponentialLR as ExponentialLR
from graphscope.engine.optim.lr_scheduler.factors import LambdaLR as LambdaLR
from graphscope.engine.optim.lr_scheduler.factors import LinearLR as LinearLR
from graphscope.engine.optim.lr_scheduler.factors import MultiStepLR as MultiStepLR
from graphscope.engine.optim.lr_scheduler.factors import StepLR as StepLR
from graphscope.engine.optim.lr_scheduler.one_cycle import OneCycleLR as OneCycleLR
from graphscope.engine.optim.lr_scheduler.plateau import ReduceLROnPlateau as ReduceLROnPlateau
from graphscope.engine.optim.lr_scheduler.scheduler import LRScheduler as LRScheduler
from graphscope.engine.optim.lr_scheduler.sequential import SequentialLR as SequentialLR

_LRScheduler = LRScheduler  # as older programs call it

_answer_for(__name__)
