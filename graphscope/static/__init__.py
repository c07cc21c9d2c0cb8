"""Define-then-run with the words of TensorFlow 1 (`import graphscope.static as tf`), and graphs that run later."""

from __future__ import annotations

from typing import Any

from graphscope.debugger.tensor_filters import add_tensor_filter as add_tensor_filter
from graphscope.errors import StaticError as StaticError
from graphscope.static import nn as nn
from graphscope.static import train as train
from graphscope.static.debugging import debug as debug
from graphscope.static.sessions.control_flow import cond as cond
from graphscope.static.sessions.control_flow import while_loop as while_loop
from graphscope.static.sessions.default_graph import Graph as Graph
from graphscope.static.sessions.default_graph import get_default_graph as get_default_graph
from graphscope.static.sessions.default_graph import reset_default_graph as reset_default_graph
from graphscope.static.sessions.functions import control_dependencies as control_dependencies
from graphscope.static.sessions.functions import name_scope as name_scope
from graphscope.static.sessions.graph_collections import *
from graphscope.static.sessions.initializers import *
from graphscope.static.sessions.session import InteractiveSession as InteractiveSession
from graphscope.static.sessions.session import Session as Session
from graphscope.static.sessions.session import get_default_session as get_default_session
from graphscope.static.sessions.tensor_arrays import TensorArray as TensorArray
from graphscope.static.sessions.variable_scopes import *
from graphscope.static.sessions.variables import *
from graphscope.static.words import element_types as _element_types
from graphscope.static.words.element_types import *
from graphscope.static.words.namespaces import named as _named
from graphscope.static.words.tensors import Dimension as Dimension
from graphscope.static.words.tensors import Operation as Operation
from graphscope.static.words.tensors import Tensor as Tensor
from graphscope.static.words.tensors import TensorShape as TensorShape

bool = _element_types.bool_
newaxis = None

# All other functions are found by name: TensorFlow's, and every op of the engine under its own.

__all__ = [name for name in dir() if not name.startswith("_") and name not in ("annotations", "Any")]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _named("", name)
