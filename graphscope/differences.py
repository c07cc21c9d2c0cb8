"""`diff`, which is two things: where two recorded runs part, and PyTorch's function of a tensor."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, overload

from graphscope.eventlog.reader import Log

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphscope.compare import Difference


@overload
def diff(
    a: Log | str | os.PathLike[str],
    b: Log | str | os.PathLike[str],
    /,
    *,
    exact: bool = ...,
    rtol: float | None = ...,
    atol: float | None = ...,
    names: Mapping[str, str] | None = ...,
) -> Difference: ...
@overload
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any: ...
def diff(*args: Any, **options: Any) -> Any:
    """Where two recorded runs part first, with the line on both sides; of a tensor, the differences of neighbours.

    Of two logs, or their paths, the answer is that of `graphscope.compare.diff`; of a tensor that of `torch.diff`.

    Raises:
        LogError: A log can't be read.
    """
    if args and isinstance(args[0], Log | str | os.PathLike):
        from graphscope.compare import diff as compare

        return compare(*args, **options)
    from graphscope.engine import diff as differences

    return differences(*args, **options)
