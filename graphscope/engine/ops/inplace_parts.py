"""In-place forms of ops that write at an index, and of those that only change the shape: `index_add_`, `squeeze_`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope.engine.core.modes import here
from graphscope.engine.core.op import OPS
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.core.writing import refuse
from graphscope.engine.ops import cumulative, masking, scatter, triangular
from graphscope.engine.ops.dim_order import swapaxes
from graphscope.engine.ops.inplace_forms import derive
from graphscope.engine.ops.shape import squeeze, t, transpose, unsqueeze

__all__: list[str] = []

FORMS: Final = {
    cumulative: ("cumprod", "cumsum"),
    masking: ("index_put", "masked_fill", "masked_scatter"),
    scatter: ("index_add", "index_fill", "scatter", "scatter_add", "scattered"),
    triangular: ("tril", "triu"),
}
"""The ops that have a form in place, made here, by the modules that define them."""

WRITES: Final[dict[str, Any]] = {
    name: derive(OPS[name], OPS[name].samples[:2]) for names in FORMS.values() for name in names
}
"""The functions, by the names of the ops that they are the forms of."""


def scatter_(self: Tensor, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: Any = None) -> Tensor:
    """Write `src`, a tensor or a number, at an index along a dim.

    Raises:
        RuntimeError: Shapes, dtypes or the index do not fit.
    """
    source = value if src is None else src
    if reduce is None:
        return WRITES["scatter"](self, dim, index, source)  # type: ignore[no-any-return]
    if not isinstance(source, Tensor):
        source = Tensor(np.full(index.shape, source, self.dtype))
    if reduce == "add":
        return WRITES["scatter_add"](self, dim, index, source)  # type: ignore[no-any-return]
    if reduce != "multiply":
        raise RuntimeError(f"reduce argument must be either add or multiply, not {reduce!r}")
    return WRITES["scattered"](self, dim, index, source, "prod")  # type: ignore[no-any-return]


def scatter_reduce_(self: Tensor, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> Tensor:
    """Reduce each element with those of `src` that the index sends to it; see `scatter_reduce`."""
    if reduce in ("prod", "amax", "amin"):
        return WRITES["scattered"](self, dim, index, src, reduce, include_self)  # type: ignore[no-any-return]
    return self.copy_(self.scatter_reduce(dim, index, src, reduce, include_self=include_self))  # type: ignore[no-any-return]


def _restructured(name: str, function: Callable[..., Any]) -> Callable[..., Tensor]:
    """A form in place of an op that makes a view: the tensor becomes what the op returns, of the same memory."""

    def call(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if here().grad_enabled and self.requires_grad:
            refuse(OPS[OP_OF.get(name, name)], self)
        new = function(self, *args, **kwargs)
        self.array, self.node, self.row = new.array, new.node, new.row
        self.written()
        return self

    call.__name__ = call.__qualname__ = f"{name}_"
    call.__doc__ = f"`{name}` in place: the same memory, seen in another shape."
    return call


OP_OF: Final = {"swapaxes": "transpose"}
RESTRUCTURED: Final = {
    f"{function.__name__}_": _restructured(function.__name__, function)
    for function in (squeeze, swapaxes, t, transpose, unsqueeze)
}
METHODS: Final = {
    **RESTRUCTURED,
    "scatter_": scatter_,
    "scatter_reduce_": scatter_reduce_,
}
"""The methods, by name."""

for _name, _method in METHODS.items():
    setattr(Tensor, _name, _method)
