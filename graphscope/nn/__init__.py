"""Modules and what they compute, in PyTorch's spelling."""

from graphscope.nn import functional
from graphscope.nn.layers import (
    CrossEntropyLoss,
    L1Loss,
    Linear,
    LogSoftmax,
    ModuleList,
    MSELoss,
    NLLLoss,
    ReLU,
    Sequential,
    Sigmoid,
    Softmax,
    Tanh,
)
from graphscope.nn.module import Module
from graphscope.nn.parameter import Parameter

__all__ = [
    "CrossEntropyLoss",
    "L1Loss",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleList",
    "NLLLoss",
    "Parameter",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "functional",
]
