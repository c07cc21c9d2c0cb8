"""Which cases of a test that runs whole programs belong to the quick suite."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def one_quick(cases: Iterable[Any]) -> list[Any]:
    """The cases of a test, all but the first one marked as slow."""
    first, *others = cases
    return [first, *(pytest.param(*_values(each), marks=pytest.mark.slow) for each in others)]


def _values(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)
