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
from graphscope.static.sessions.functions import Assert as Assert
from graphscope.static.sessions.functions import Print as Print
from graphscope.static.sessions.functions import constant as constant
from graphscope.static.sessions.functions import control_dependencies as control_dependencies
from graphscope.static.sessions.functions import convert_to_tensor as convert_to_tensor
from graphscope.static.sessions.functions import gradients as gradients
from graphscope.static.sessions.functions import group as group
from graphscope.static.sessions.functions import identity as identity
from graphscope.static.sessions.functions import name_scope as name_scope
from graphscope.static.sessions.functions import no_op as no_op
from graphscope.static.sessions.functions import ones as ones
from graphscope.static.sessions.functions import placeholder as placeholder
from graphscope.static.sessions.functions import placeholder_with_default as placeholder_with_default
from graphscope.static.sessions.functions import py_func as py_func
from graphscope.static.sessions.functions import random_normal as random_normal
from graphscope.static.sessions.functions import random_uniform as random_uniform
from graphscope.static.sessions.functions import stop_gradient as stop_gradient
from graphscope.static.sessions.functions import truncated_normal as truncated_normal
from graphscope.static.sessions.functions import tuple_ as _tuple
from graphscope.static.sessions.functions import zeros as zeros
from graphscope.static.sessions.graph_collections import GraphKeys as GraphKeys
from graphscope.static.sessions.graph_collections import add_to_collection as add_to_collection
from graphscope.static.sessions.graph_collections import add_to_collections as add_to_collections
from graphscope.static.sessions.graph_collections import get_collection as get_collection
from graphscope.static.sessions.graph_collections import get_collection_ref as get_collection_ref
from graphscope.static.sessions.node_stepper import NodeStepper as NodeStepper
from graphscope.static.sessions.session import InteractiveSession as InteractiveSession
from graphscope.static.sessions.session import Session as Session
from graphscope.static.sessions.session import get_default_session as get_default_session
from graphscope.static.sessions.variable_scopes import constant_initializer as constant_initializer
from graphscope.static.sessions.variable_scopes import get_variable as get_variable
from graphscope.static.sessions.variable_scopes import glorot_uniform_initializer as glorot_uniform_initializer
from graphscope.static.sessions.variable_scopes import ones_initializer as ones_initializer
from graphscope.static.sessions.variable_scopes import random_normal_initializer as random_normal_initializer
from graphscope.static.sessions.variable_scopes import random_uniform_initializer as random_uniform_initializer
from graphscope.static.sessions.variable_scopes import truncated_normal_initializer as truncated_normal_initializer
from graphscope.static.sessions.variable_scopes import variable_scope as variable_scope
from graphscope.static.sessions.variable_scopes import zeros_initializer as zeros_initializer
from graphscope.static.sessions.variables import Variable as Variable
from graphscope.static.sessions.variables import assign as assign
from graphscope.static.sessions.variables import assign_add as assign_add
from graphscope.static.sessions.variables import assign_sub as assign_sub
from graphscope.static.sessions.variables import global_variables as global_variables
from graphscope.static.sessions.variables import global_variables_initializer as global_variables_initializer
from graphscope.static.sessions.variables import trainable_variables as trainable_variables
from graphscope.static.sessions.variables import variables_initializer as variables_initializer

# Every op of the engine is a function here, too, by its own name and by TensorFlow's: see `__getattr__`.

Tensor = _Symbol
tuple = _tuple
bool = bool_
set_random_seed = _manual_seed

__all__ = [name for name in dir() if not name.startswith("_") and name not in ("annotations", "Any")]


def __getattr__(name: str) -> Any:
    spelled = _spellings.SPELLINGS.get(name)
    return _spellings.op(name) if spelled is None else _spellings.named(spelled, name)
