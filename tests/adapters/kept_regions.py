"""Marks of tests of what a recording tells at `capture="compiled"`; a module that imports them needs PyTorch."""

from __future__ import annotations

from typing import Final

import pytest

torch = pytest.importorskip("torch")
VERSION: Final = tuple(map(int, torch.__version__.split(".")[:2]))
MARKS: Final = [
    pytest.mark.torch,
    pytest.mark.slow,
    pytest.mark.skipif(VERSION < (2, 6), reason="its compiler does not look at modes before torch 2.6"),
]
