"""Modules under the paths that some programs import them by: `torch.nn.modules.conv.Conv2d`."""

from graphscope.engine.nn import (
    activation,
    batchnorm,
    container,
    convolution,
    distance,
    dropout,
    embedding,
    linear,
    loss,
    module,
    normalization,
    padding,
    pooling,
    recurrent,
    shaping,
    transformerlayers,
)
from graphscope.engine.nn.module import Module
from graphscope.engine.nn.modules import utils

conv, flatten, rnn, sparse, transformer = convolution, shaping, recurrent, embedding, transformerlayers

__all__ = [
    "Module", "activation", "batchnorm", "container", "conv", "distance", "dropout", "flatten", "linear", "loss",
    "module", "normalization", "padding", "pooling", "rnn", "sparse", "transformer", "utils",
]  # fmt: skip
