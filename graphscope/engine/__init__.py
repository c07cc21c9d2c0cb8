"""The engine to be watched: PyTorch's spelling over NumPy, every node, edge and gradient told to the log."""

import warnings as _warnings
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from types import ModuleType
from typing import TYPE_CHECKING

from graphscope.engine.amp import autocast as autocast
from graphscope.engine.core import methods as methods  # makes a Tensor of what ops.define gave it
from graphscope.engine.core.device import channels_last as channels_last
from graphscope.engine.core.device import contiguous_format as contiguous_format
from graphscope.engine.core.device import device as device
from graphscope.engine.core.device import layout as layout
from graphscope.engine.core.device import memory_format as memory_format
from graphscope.engine.core.device import preserve_format as preserve_format
from graphscope.engine.core.device import strided as strided
from graphscope.engine.core.dtype_queries import can_cast as can_cast
from graphscope.engine.core.dtype_queries import finfo as finfo
from graphscope.engine.core.dtype_queries import iinfo as iinfo
from graphscope.engine.core.dtype_queries import promote_types as promote_types
from graphscope.engine.core.dtype_queries import result_type as result_type
from graphscope.engine.core.dtypes import set_default_dtype as set_default_dtype
from graphscope.engine.core.element_types import Size as Size
from graphscope.engine.core.element_types import bfloat16 as bfloat16
from graphscope.engine.core.element_types import bool_ as bool_
from graphscope.engine.core.element_types import complex64 as complex64
from graphscope.engine.core.element_types import complex128 as complex128
from graphscope.engine.core.element_types import dtype as dtype
from graphscope.engine.core.element_types import float16 as float16
from graphscope.engine.core.element_types import float32 as float32
from graphscope.engine.core.element_types import float64 as float64
from graphscope.engine.core.element_types import get_default_dtype as get_default_dtype
from graphscope.engine.core.element_types import int8 as int8
from graphscope.engine.core.element_types import int16 as int16
from graphscope.engine.core.element_types import int32 as int32
from graphscope.engine.core.element_types import int64 as int64
from graphscope.engine.core.element_types import uint8 as uint8
from graphscope.engine.core.generator import Generator as Generator
from graphscope.engine.core.generator import default_generator as default_generator
from graphscope.engine.core.generator import get_rng_state as get_rng_state
from graphscope.engine.core.generator import initial_seed as initial_seed
from graphscope.engine.core.generator import manual_seed as manual_seed
from graphscope.engine.core.generator import seed as seed
from graphscope.engine.core.generator import set_rng_state as set_rng_state
from graphscope.engine.core.gradients import grad as grad
from graphscope.engine.core.legacy import *
from graphscope.engine.core.methods import allclose as allclose
from graphscope.engine.core.methods import equal as equal
from graphscope.engine.core.methods import is_tensor as is_tensor
from graphscope.engine.core.methods import numel as numel
from graphscope.engine.core.modes import enable_grad as enable_grad
from graphscope.engine.core.modes import inference_mode as inference_mode
from graphscope.engine.core.modes import is_grad_enabled as is_grad_enabled
from graphscope.engine.core.modes import is_inference_mode_enabled as is_inference_mode_enabled
from graphscope.engine.core.modes import no_grad as no_grad
from graphscope.engine.core.modes import set_grad_enabled as set_grad_enabled
from graphscope.engine.core.module_scopes import scope as scope
from graphscope.engine.core.op import OPS as OPS
from graphscope.engine.core.placement import clone as clone
from graphscope.engine.core.switches import *
from graphscope.engine.core.tensor import Tensor as Tensor
from graphscope.engine.core.tensor_printing import set_printoptions as set_printoptions
from graphscope.engine.func import vmap as vmap
from graphscope.engine.ops import inplace_forms as _inplace_forms
from graphscope.engine.ops.activations import *
from graphscope.engine.ops.attention import *
from graphscope.engine.ops.bags import *
from graphscope.engine.ops.classification import *
from graphscope.engine.ops.complex_numbers import *
from graphscope.engine.ops.contractions import *
from graphscope.engine.ops.convolution import *
from graphscope.engine.ops.counting import *
from graphscope.engine.ops.create import *
from graphscope.engine.ops.ctc import *
from graphscope.engine.ops.cumulative import *
from graphscope.engine.ops.decompositions import *
from graphscope.engine.ops.dim_order import *
from graphscope.engine.ops.distances import *
from graphscope.engine.ops.dropout import *
from graphscope.engine.ops.einsum import *
from graphscope.engine.ops.elementwise import *
from graphscope.engine.ops.embedding import *
from graphscope.engine.ops.extremes import *
from graphscope.engine.ops.gathering import *
from graphscope.engine.ops.grids import *
from graphscope.engine.ops.index import *
from graphscope.engine.ops.inplace import *
from graphscope.engine.ops.inplace_forms import *
from graphscope.engine.ops.inplace_parts import *
from graphscope.engine.ops.inverses import *
from graphscope.engine.ops.joining import *
from graphscope.engine.ops.like_others import *
from graphscope.engine.ops.linalg import *
from graphscope.engine.ops.linear import *
from graphscope.engine.ops.losses import *
from graphscope.engine.ops.masking import *
from graphscope.engine.ops.mean_square import *
from graphscope.engine.ops.normalization import *
from graphscope.engine.ops.norms import *
from graphscope.engine.ops.pad import *
from graphscope.engine.ops.pair_losses import *
from graphscope.engine.ops.pixels import *
from graphscope.engine.ops.pooling import *
from graphscope.engine.ops.products import *
from graphscope.engine.ops.quantiles import *
from graphscope.engine.ops.randoms import *
from graphscope.engine.ops.rearrange import *
from graphscope.engine.ops.recurrent import *
from graphscope.engine.ops.reduce import *
from graphscope.engine.ops.resampling import *
from graphscope.engine.ops.scatter import *
from graphscope.engine.ops.shape import *
from graphscope.engine.ops.softmax import *
from graphscope.engine.ops.sorting import *
from graphscope.engine.ops.spellings import *
from graphscope.engine.ops.splitting import *
from graphscope.engine.ops.statistics import *
from graphscope.engine.ops.strided import *
from graphscope.engine.ops.triangular import *
from graphscope.engine.ops.updates import *
from graphscope.engine.serialization.safetensors import save as save

# A number that overflows is a value for the debugger to find, as in PyTorch. NumPy's warnings belong to the line that
# called it: this silences what our own ops meet, leaves the program's own NumPy alone, and costs nothing per op.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"graphscope\.engine(\.|$)")

float = float32
double = float64
half = float16
cfloat = complex64
cdouble = complex128
short = int16
int = int32
long = int64
bool = bool_
newaxis = None

globals().update(_inplace_forms.FUNCTIONS)  # `exp_(x)`, and others that are made in a loop

if not TYPE_CHECKING:  # these see the names themselves, and would take a list that is computed for an empty one
    __all__ = [
        name
        for name, value in list(globals().items())
        if not (name.startswith("_") or name == "TYPE_CHECKING" or isinstance(value, ModuleType) or value is ModuleType)
    ]

from graphscope.engine import devices as _devices  # noqa: E402, F401 - makes `cuda` and others, out of what is above
from graphscope.engine.absent import answer_for as _answer_for  # noqa: E402
from graphscope.engine.absent import answer_for_methods as _answer_for_methods  # noqa: E402

_answer_for(__name__)
_answer_for_methods(Tensor)
