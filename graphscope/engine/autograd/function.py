"""Functions with a backward of their own."""

from __future__ import annotations

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.custom_function import Function as Function
from graphscope.engine.core.custom_function import FunctionCtx as FunctionCtx
from graphscope.engine.core.custom_function import once_differentiable as once_differentiable

__all__ = ["Function", "FunctionCtx", "once_differentiable"]

_answer_for(__name__)
