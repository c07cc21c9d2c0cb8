"""Hooks of the program: what runs in one is told as that."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from types import FrameType
from typing import Final

import torch

_TORCH: Final = str(Path(torch.__file__).parent)
_MODULE: Final = str(Path(_TORCH, "nn", "modules", "module.py"))
_AROUND_MODULES: Final = str(Path(_TORCH, "utils", "hooks.py"))
_ENGINE: Final = str(Path(_TORCH, "autograd", "graph.py"))
_CALLS: Final = {
    _MODULE: (
        (re.compile(r"\bargs_(kwargs_)?result = hook\("), "forward pre-hook"),
        (re.compile(r"\bhook_result = hook\("), "forward hook"),
    ),
    _AROUND_MODULES: (
        (re.compile(r"\bhook\(self\.module"), "full backward hook"),
        (re.compile(r"\buser_pre_hook\("), "full backward pre-hook"),
    ),
    _ENGINE: ((re.compile(r"\brun_backward\("), "gradient hook"),),
}
"""Where PyTorch calls hooks, and of which kind they are."""
_DEEPEST: Final = 32


def hook_of(frame: FrameType, is_in_engine: bool = False) -> str:
    """The hook that a frame of the program runs in, by its kind and name; empty where it runs in none.

    Args:
        frame: The frame.
        is_in_engine: Whether the thread is one of autograd's engine, which calls nothing but hooks.
    """
    inner, outer = frame, frame.f_back
    for _ in range(_DEEPEST):
        if outer is None:
            return _told("gradient hook", inner) if is_in_engine else ""
        file = outer.f_code.co_filename
        if file in _CALLS:
            line = linecache.getline(file, outer.f_lineno)
            kind = next((kind for call, kind in _CALLS[file] if call.search(line)), "")
            return _told(kind, inner) if kind else ""
        inner, outer = outer, outer.f_back
    return ""


def _told(kind: str, frame: FrameType) -> str:
    if frame.f_code.co_filename.startswith(_TORCH):
        return ""
    return f"{kind} {frame.f_code.co_qualname.rpartition('<locals>.')[2]}"
