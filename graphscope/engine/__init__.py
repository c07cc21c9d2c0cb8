"""The instrumented autograd engine: PyTorch's spelling over NumPy, every event told to the log."""

import warnings as _warnings
from types import ModuleType

from graphscope.engine import methods as methods  # makes a Tensor of what ops.define gave it
from graphscope.engine.dtypes import bool_ as bool_
from graphscope.engine.dtypes import float16 as float16
from graphscope.engine.dtypes import float32 as float32
from graphscope.engine.dtypes import float64 as float64
from graphscope.engine.dtypes import get_default_dtype as get_default_dtype
from graphscope.engine.dtypes import int8 as int8
from graphscope.engine.dtypes import int16 as int16
from graphscope.engine.dtypes import int32 as int32
from graphscope.engine.dtypes import int64 as int64
from graphscope.engine.dtypes import set_default_dtype as set_default_dtype
from graphscope.engine.dtypes import uint8 as uint8
from graphscope.engine.gradients import grad as grad
from graphscope.engine.methods import allclose as allclose
from graphscope.engine.methods import clone as clone
from graphscope.engine.methods import equal as equal
from graphscope.engine.methods import is_tensor as is_tensor
from graphscope.engine.modes import enable_grad as enable_grad
from graphscope.engine.modes import is_grad_enabled as is_grad_enabled
from graphscope.engine.modes import no_grad as no_grad
from graphscope.engine.modes import set_grad_enabled as set_grad_enabled
from graphscope.engine.op import OPS as OPS
from graphscope.engine.ops.create import arange as arange
from graphscope.engine.ops.create import as_tensor as as_tensor
from graphscope.engine.ops.create import empty as empty
from graphscope.engine.ops.create import eye as eye
from graphscope.engine.ops.create import from_numpy as from_numpy
from graphscope.engine.ops.create import full as full
from graphscope.engine.ops.create import linspace as linspace
from graphscope.engine.ops.create import ones as ones
from graphscope.engine.ops.create import ones_like as ones_like
from graphscope.engine.ops.create import rand as rand
from graphscope.engine.ops.create import rand_like as rand_like
from graphscope.engine.ops.create import randint as randint
from graphscope.engine.ops.create import randn as randn
from graphscope.engine.ops.create import randn_like as randn_like
from graphscope.engine.ops.create import randperm as randperm
from graphscope.engine.ops.create import tensor as tensor
from graphscope.engine.ops.create import zeros as zeros
from graphscope.engine.ops.create import zeros_like as zeros_like
from graphscope.engine.ops.elementwise import abs as abs
from graphscope.engine.ops.elementwise import add as add
from graphscope.engine.ops.elementwise import clamp as clamp
from graphscope.engine.ops.elementwise import cos as cos
from graphscope.engine.ops.elementwise import div as div
from graphscope.engine.ops.elementwise import eq as eq
from graphscope.engine.ops.elementwise import exp as exp
from graphscope.engine.ops.elementwise import ge as ge
from graphscope.engine.ops.elementwise import gt as gt
from graphscope.engine.ops.elementwise import le as le
from graphscope.engine.ops.elementwise import log as log
from graphscope.engine.ops.elementwise import lt as lt
from graphscope.engine.ops.elementwise import mul as mul
from graphscope.engine.ops.elementwise import ne as ne
from graphscope.engine.ops.elementwise import neg as neg
from graphscope.engine.ops.elementwise import pow as pow
from graphscope.engine.ops.elementwise import relu as relu
from graphscope.engine.ops.elementwise import sigmoid as sigmoid
from graphscope.engine.ops.elementwise import sign as sign
from graphscope.engine.ops.elementwise import sin as sin
from graphscope.engine.ops.elementwise import sqrt as sqrt
from graphscope.engine.ops.elementwise import sub as sub
from graphscope.engine.ops.elementwise import tanh as tanh
from graphscope.engine.ops.extremes import amax as amax
from graphscope.engine.ops.extremes import amin as amin
from graphscope.engine.ops.extremes import argmax as argmax
from graphscope.engine.ops.extremes import argmin as argmin
from graphscope.engine.ops.extremes import max as max
from graphscope.engine.ops.extremes import maximum as maximum
from graphscope.engine.ops.extremes import min as min
from graphscope.engine.ops.extremes import minimum as minimum
from graphscope.engine.ops.index import cat as cat
from graphscope.engine.ops.index import stack as stack
from graphscope.engine.ops.index import where as where
from graphscope.engine.ops.inplace import add_ as add_
from graphscope.engine.ops.linalg import matmul as matmul
from graphscope.engine.ops.linalg import mm as mm
from graphscope.engine.ops.nn import log_softmax as log_softmax
from graphscope.engine.ops.nn import softmax as softmax
from graphscope.engine.ops.reduce import all as all
from graphscope.engine.ops.reduce import any as any
from graphscope.engine.ops.reduce import mean as mean
from graphscope.engine.ops.reduce import sum as sum
from graphscope.engine.ops.shape import expand as expand
from graphscope.engine.ops.shape import flatten as flatten
from graphscope.engine.ops.shape import permute as permute
from graphscope.engine.ops.shape import reshape as reshape
from graphscope.engine.ops.shape import squeeze as squeeze
from graphscope.engine.ops.shape import t as t
from graphscope.engine.ops.shape import transpose as transpose
from graphscope.engine.ops.shape import unsqueeze as unsqueeze
from graphscope.engine.random import manual_seed as manual_seed
from graphscope.engine.scopes import scope as scope
from graphscope.engine.tensor import Tensor as Tensor

# A number that overflows is a value for the debugger to find, as in PyTorch. NumPy's warnings belong to the line that
# called it: this silences what our own ops meet, leaves the program's own NumPy alone, and costs nothing per op.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"graphscope\.(engine|nn|optim)(\.|$)")

float = float32
double = float64
half = float16
int = int32
long = int64
bool = bool_

__all__ = [
    name
    for name, value in list(globals().items())
    if not name.startswith("_") and not isinstance(value, ModuleType) and value is not ModuleType
]
