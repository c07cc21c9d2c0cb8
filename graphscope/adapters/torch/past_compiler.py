"""What runs of graphscope in a step that is left out, where torch's compiler is at work: it is to look into none of it.

A program may compile the step of its optimizer, whose end we are told: the compiler would look into what we do then.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

_EVALUATION: Final = "torch._C._dynamo.eval_frame"


@cache
def pass_over_us() -> None:
    """Let the compiler begin with no function of graphscope's."""
    rules = import_module("torch._dynamo.trace_rules")
    if not any(Path(__file__).is_relative_to(each) for each in rules.SKIP_DIRS):
        rules.add("graphscope")


@contextlib.contextmanager
def at_rest() -> Iterator[None]:
    """With nothing compiled that is called in this thread, also where what calls us is."""
    evaluation: Any = sys.modules.get(_EVALUATION)
    before = None if evaluation is None else evaluation.set_eval_frame(None)
    try:
        yield
    finally:
        if evaluation is not None:
            evaluation.set_eval_frame(before)
