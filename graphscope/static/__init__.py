"""Define-then-run with the words of TensorFlow 1 (`import graphscope.static as tf`), and graphs that run later."""

from __future__ import annotations

from typing import Any

from graphscope.debugger.tensor_filters import add_tensor_filter as add_tensor_filter
from graphscope.engine.core.dtypes import bool_ as bool_
from graphscope.engine.core.dtypes import float16 as float16
from graphscope.engine.core.dtypes import float32 as float32
from graphscope.engine.core.dtypes import float64 as float64
from graphscope.engine.core.dtypes import int8 as int8
from graphscope.engine.core.dtypes import int16 as int16
from graphscope.engine.core.dtypes import int32 as int32
from graphscope.engine.core.dtypes import int64 as int64
from graphscope.engine.core.dtypes import uint8 as uint8
from graphscope.engine.core.generator import manual_seed as _manual_seed
from graphscope.errors import StaticError as StaticError
from graphscope.static import nn as nn
from graphscope.static import train as train
from graphscope.static.graphs.symbols import Symbol as _Symbol
from graphscope.static.sessions import tensorflow_names as _spellings
from graphscope.static.sessions.control_flow import cond as cond
from graphscope.static.sessions.control_flow import while_loop as while_loop
from graphscope.static.sessions.default_graph import Graph as Graph
from graphscope.static.sessions.default_graph import get_default_graph as get_default_graph
from graphscope.static.sessions.default_graph import reset_default_graph as reset_default_graph
from graphscope.static.sessions.functions import *
from graphscope.static.sessions.functions import tuple_ as _tuple
from graphscope.static.sessions.graph_collections import *
from graphscope.static.sessions.session import InteractiveSession as InteractiveSession
from graphscope.static.sessions.session import Session as Session
from graphscope.static.sessions.session import get_default_session as get_default_session
from graphscope.static.sessions.variable_scopes import *
from graphscope.static.sessions.variables import *

# Every op of the engine is a function here, too, by its own name and by TensorFlow's: see `__getattr__`.

Tensor = _Symbol
tuple = _tuple
bool = bool_
set_random_seed = _manual_seed

__all__ = [name for name in dir() if not name.startswith("_") and name not in ("annotations", "Any")]


def __getattr__(name: str) -> Any:
    spelled = _spellings.SPELLINGS.get(name)
    return _spellings.op(name) if spelled is None else _spellings.named(spelled, name)
