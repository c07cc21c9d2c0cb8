"""Optimizers: they change parameters by their gradients, in place."""

from graphscope.optim.sgd import SGD

__all__ = ["SGD"]
