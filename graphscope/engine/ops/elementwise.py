"""All elementwise ops; each module of them has one subject."""

from graphscope.engine.ops import (
    arithmetic,
    comparison,
    division,
    exponential,
    logical,
    rounding,
    signs,
    special,
    trigonometric,
)
from graphscope.engine.ops.arithmetic import *
from graphscope.engine.ops.comparison import *
from graphscope.engine.ops.division import *
from graphscope.engine.ops.exponential import *
from graphscope.engine.ops.logical import *
from graphscope.engine.ops.rounding import *
from graphscope.engine.ops.signs import *
from graphscope.engine.ops.special import *
from graphscope.engine.ops.trigonometric import *

__all__ = [
    name
    for module in (arithmetic, comparison, division, exponential, logical, rounding, signs, special, trigonometric)
    for name in module.__all__
]
