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
from graphscope.engine.ops.create import *
from graphscope.engine.ops.elementwise import *
from graphscope.engine.ops.extremes import *
from graphscope.engine.ops.index import *
from graphscope.engine.ops.inplace import *
from graphscope.engine.ops.linalg import *
from graphscope.engine.ops.nn import *
from graphscope.engine.ops.reduce import *
from graphscope.engine.ops.shape import *
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
