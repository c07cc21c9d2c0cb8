"""What JAX keeps of what it has traced and compiled: apart for the program alone, for recorded and for left-out steps.

Recorded functions are traced with marks in them. JAX looks up what it keeps by a context of ours besides all else
(`jax.make_user_context`), so that what is changed time and again, as steps are left out, is made once.
"""

from __future__ import annotations

from typing import Any, Final

import jax

_make: Final[Any] = getattr(jax, "make_user_context", None)
_context: Final[Any] = None if _make is None else _make(None)
_set: Final[Any] = getattr(_context, "set_global", None) or getattr(getattr(_context, "_obj", None), "set_global", None)
"""Sets it for all threads, which the newer ones of these versions offer."""

IS_KEPT: Final = _set is not None
"""Whether it is kept apart: before JAX 0.7.2 it is made anew instead when a recording begins, and when it ends."""


def use_recorded() -> None:
    """Trace and compile for steps that are recorded from here on."""
    _use("recorded")


def use_left_out() -> None:
    """The same for steps that are left out, in which it is seen whether a call trains."""
    _use("left out")


def use_own() -> None:
    """The same for the program as it is alone."""
    _use(None)


def _use(which: str | None) -> None:
    if _set is None:
        jax.clear_caches()  # type: ignore[no-untyped-call]
    else:
        _set(which)
