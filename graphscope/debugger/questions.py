"""What a program answers to the debugger in another process while it waits: one function for each question."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.debugger import interpreter
from graphscope.debugger.commands.edits import replace
from graphscope.debugger.commands.printing import evaluate
from graphscope.debugger.commands.python import execute
from graphscope.debugger.expressions import RAISED
from graphscope.debugger.inspection import Handles
from graphscope.debugger.step_targets import step_targets
from graphscope.debugger.value_results import as_array
from graphscope.errors import CommandError
from graphscope.eventlog import record as recording
from graphscope.eventlog.foreign_tensors import row_of

if TYPE_CHECKING:
    from graphscope.debugger.debugger import Debugger

Answer = tuple[Any, bytes]
"""Data that travels as JSON, and bytes beside it."""

Question = Callable[["Debugger", Handles, dict[str, Any]], Answer]

QUESTIONS: Final[dict[str, Question]] = {}
"""Every question by its name."""


def question(function: Question) -> Question:
    """Enter a function into the table, under its own name."""
    QUESTIONS[function.__name__] = function
    return function


def stand(debugger: Debugger, details: dict[str, Any]) -> None:
    """Stand where the asking side stands: at its `now`, in its frame."""
    now = details.get("now")
    if now is not None and now != debugger.now:
        debugger.stand(now)
    frame = details.get("frame")
    if frame is not None:
        debugger.frame_index = frame


@question
def command(debugger: Debugger, handles: Handles, details: dict[str, Any]) -> Answer:
    """Carry out a line of the debugger's own language; its result."""
    return interpreter.answer(debugger, details["line"], details.get("block", ())), b""


@question
def variables(debugger: Debugger, handles: Handles, details: dict[str, Any]) -> Answer:
    """The local variables of a frame."""
    frame = _frame(debugger)
    names = frame.f_locals if details.get("which") != "globals" else frame.f_globals
    shown = [(name, value) for name, value in names.items() if not _hidden(name, value)]
    return [handles.entry(name, value, name) for name, value in shown], b""


@question
def children(debugger: Debugger, handles: Handles, details: dict[str, Any]) -> Answer:
    """What is inside an object that was told of."""
    return handles.children(
        details["handle"], details.get("kind", ""), details.get("start", 0), details.get("count", 0)
    ), b""


@question
def look(debugger: Debugger, handles: Handles, details: dict[str, Any]) -> Answer:
    """An expression as an object that can be opened; `python` hides the words that speak of the node."""
    expression = details["expression"]
    return handles.entry(details.get("name", expression), evaluate(debugger, expression), expression), b""


@question
def hover(debugger: Debugger, handles: Handles, details: dict[str, Any]) -> Answer:
    """An expression of the program in a frame, as an object that can be opened."""
    expression = details["expression"]
    with recording.recording_to(None):  # not of the program
        return handles.entry(expression, _in_frame(debugger, expression), expression), b""


@question
def defines(debugger: Debugger, handles: Handles, details: dict[str, Any]) -> Answer:
    """Whether the program has a variable of a name where it waits."""
    frame = debugger.program_frame
    return frame is not None and (details["name"] in frame.f_locals or details["name"] in frame.f_globals), b""


@question
def tensor(debugger: Debugger, handles: Handles, details: dict[str, Any]) -> Answer:
    """The row of the tensor that a path of names leads to, -1 of one without; the type of what is no tensor."""
    with recording.recording_to(None):  # not of the program
        try:
            value = _in_frame(debugger, details["path"])
        except RAISED:  # whatever an attribute of the program's does
            return None, b""
    row = row_of(value)
    if row is None and (isinstance(value, np.ndarray) or as_array(value) is None):
        return type(value).__name__, b""
    found = None if row is None else recording.holding(row)
    return (-1 if found is None or found[0].path != debugger.log.path else found[1]), b""


@question
def assign(debugger: Debugger, handles: Handles, details: dict[str, Any]) -> Answer:
    """Give a variable, an element, or what the program waits with another value; answers what it has become."""
    target, expression = details["target"], details["expression"]
    if target.startswith("#"):
        raise CommandError(f"What {target} was can't be changed any more", "only what the program waits with")
    word, _, place = target.partition("[")
    if word in ("value", "grad"):
        _replace(debugger, word, f"[{place}" if place else "", expression)
        return handles.entry(target, evaluate(debugger, target), target), b""
    execute(debugger, f"{target} = {expression}")
    return handles.entry(target, _in_frame(debugger, target), target), b""


@question
def complete(debugger: Debugger, handles: Handles, details: dict[str, Any]) -> Answer:
    """What a word at the end of a line may become; `recorded` if also a variable at the line of the node."""
    recorded = debugger.recorded_locals(None) if details.get("recorded") else None
    return interpreter.complete(debugger, details["line"], details["word"], recorded), b""


@question
def targets(debugger: Debugger, handles: Handles, details: dict[str, Any]) -> Answer:
    """The calls that are to come in the line; the numbers by which `into` knows them are their places, from 1."""
    return step_targets(debugger), b""


@question
def memory(debugger: Debugger, handles: Handles, details: dict[str, Any]) -> Answer:
    """A run of bytes of the memory of an array."""
    value, _ = handles.get(details["handle"])
    array = as_array(value)
    if array is None:
        raise CommandError("That variable has no memory that can be read", "arrays and tensors have")
    return array.nbytes, run_of(array, details["offset"], details["count"])


def run_of(array: np.ndarray, offset: int, count: int) -> bytes:
    """Bytes of an array in C order; of a large one that lies apart only what is needed is copied."""
    start, stop = max(offset, 0), min(max(offset, 0) + max(count, 0), array.nbytes)
    if start >= stop:
        return b""
    if array.flags.c_contiguous:
        return array.reshape(-1).view(np.uint8)[start:stop].tobytes()
    size = array.itemsize
    first, last = start // size, -(-stop // size)
    part = array.flat[first:last].tobytes()
    return part[start - first * size : stop - first * size]


def _replace(debugger: Debugger, word: str, place: str, expression: str) -> None:
    """As `set WORD = EXPR`; for an element, the rest stays as it is."""
    if not place:
        replace(debugger, word, expression)
        return
    changed = np.array(as_array(evaluate(debugger, word)))
    new = evaluate(debugger, expression)
    array = as_array(new)
    exec(f"changed{place} = new", {"changed": changed, "new": new if array is None else array})  # noqa: S102 - a person typed it
    replace(debugger, word, expression, changed)


def _frame(debugger: Debugger) -> FrameType:
    frame = debugger.frame
    if frame is None:
        raise CommandError("The program has no frame here", "go to where it waits")
    return frame


def _in_frame(debugger: Debugger, expression: str) -> object:
    frame = _frame(debugger)
    return eval(expression, frame.f_globals, frame.f_locals)  # noqa: S307 - a person typed it


def _hidden(name: str, value: object) -> bool:
    return name.startswith("__") and name.endswith("__")
