"""The instrumented autograd engine: PyTorch's spelling over NumPy, every event told to the log."""

import warnings as _warnings
from types import ModuleType

from graphscope.engine import methods
from graphscope.engine.dtypes import (
    bool_,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
)
from graphscope.engine.methods import clone, grad
from graphscope.engine.modes import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from graphscope.engine.op import OPS
from graphscope.engine.ops.create import (
    arange,
    as_tensor,
    empty,
    eye,
    from_numpy,
    full,
    linspace,
    ones,
    ones_like,
    rand,
    rand_like,
    randint,
    randn,
    randn_like,
    randperm,
    tensor,
    zeros,
    zeros_like,
)
from graphscope.engine.ops.elementwise import (
    abs,
    add,
    clamp,
    cos,
    div,
    eq,
    exp,
    ge,
    gt,
    le,
    log,
    lt,
    mul,
    ne,
    neg,
    pow,
    relu,
    sigmoid,
    sign,
    sin,
    sqrt,
    sub,
    tanh,
)
from graphscope.engine.ops.index import cat, stack, where
from graphscope.engine.ops.inplace import add_
from graphscope.engine.ops.linalg import matmul, mm
from graphscope.engine.ops.nn import log_softmax, softmax
from graphscope.engine.ops.reduce import amax, amin, argmax, mean, sum
from graphscope.engine.ops.shape import expand, flatten, permute, reshape, squeeze, t, transpose, unsqueeze
from graphscope.engine.random import manual_seed
from graphscope.engine.scopes import scope
from graphscope.engine.tensor import Tensor

# A number that overflows is a value for the debugger to find, as in PyTorch. NumPy's warnings belong to the line that
# called it: this silences what our own ops meet, leaves the program's own NumPy alone, and costs nothing per op.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"graphscope\.(engine|nn|optim)(\.|$)")

float = float32
double = float64
half = float16
int = int32
long = int64
bool = bool_
max = Tensor.max

__all__ = [
    name
    for name, value in list(globals().items())
    if not name.startswith("_") and not isinstance(value, ModuleType) and value is not ModuleType
]
