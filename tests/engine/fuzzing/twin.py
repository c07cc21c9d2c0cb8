"""Two engines, one program: each statement runs on both, and what can be seen afterwards has to be the same."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np
import torch

import graphscope as gs

MAKES_ONE = re.compile(r"(?:with torch.no_grad\(\): )?x\d+,? = (?:(?!_\()[^;])*", re.DOTALL)
"""Statements that make a tensor and change none: after these, it alone has to be compared."""

GOES_BACK = re.compile(r"backward\(|grad\(")
"""Statements that run a backward pass."""

MAY_BE_REFUSED = (
    "a second time",  # PyTorch frees the numbers of an index, too; we need not
    "ZeroTensors are immutable",  # it stumbles over a shortcut of its own
)
"""What PyTorch says where a program ends for it alone, and that is no fault."""

SAVES_MORE = ("modified by an inplace operation", "has been detached in-place")
"""What it says where its rules need more than ours of what was there before a write."""

RTOL = 1e-6
ATOL = 1e-7


@dataclass(frozen=True)
class Difference:
    """Where two runs part."""

    statement: str
    what: str

    @property
    def kind(self) -> str:
        """The kind of difference, for shrinking: another one is another find."""
        return self.what.split(":")[0]


class Twin:
    """One program on both engines, statement by statement.

    Args:
        may_be_refused: What PyTorch may say while this engine goes on: then there is nothing more to compare.
    """

    def __init__(self, may_be_refused: tuple[str, ...] = MAY_BE_REFUSED) -> None:
        self._may_be_refused = may_be_refused
        self.torch: dict[str, Any] = {"torch": torch}
        self.ours: dict[str, Any] = {"torch": gs}
        self.statements: list[str] = []
        self.over = False
        """Whether nothing can be compared any more."""

    def run(self, statement: str) -> Difference | None:
        """Run one statement on both; the difference that shows, if one does."""
        if self.over:
            return None
        self.statements.append(statement)
        code = compile(statement, "<program>", "exec")
        expected = _execute(code, self.torch)
        found = _execute(code, self.ours)
        if found is None and expected is not None and any(said in str(expected) for said in self._may_be_refused):
            self.over = True
            return None
        if (expected is None) != (found is None):
            if isinstance(found, AttributeError) and expected is None:
                return Difference(statement, f"missing: {str(found).splitlines()[0]}")
            said = f"PyTorch {_said(expected)}, graphscope {_said(found)}"
            return Difference(statement, f"{'raises' if found else 'does not raise'}: {said}")
        if expected is not None and GOES_BACK.search(statement):
            self.over = True  # which gradients had arrived before an error is nobody's promise
            return None
        if "create_graph=True" in statement:
            self._forget_constants()
        return self._compare(statement, everything=MAKES_ONE.fullmatch(statement) is None)

    def _forget_constants(self) -> None:
        """Drop a gradient that is constant: whether it counts as one that requires grad is each engine's own affair."""
        name = list(self.torch)[-1]
        theirs, ours = self.torch[name], self.ours.get(name)
        if (
            isinstance(theirs, torch.Tensor)
            and isinstance(ours, gs.Tensor)
            and theirs.requires_grad != ours.requires_grad
        ):
            self.torch[name] = self.ours[name] = None

    def _compare(self, statement: str, *, everything: bool) -> Difference | None:
        names = [name for name in self.torch if name[0] == "x"]
        for name in names if everything else names[-1:]:
            what = _difference(self.torch[name], self.ours.get(name))
            if what is not None:
                return Difference(statement, what.replace(":", f": {name}", 1))
        return None


def _execute(code: CodeType, names: dict[str, Any]) -> Exception | None:
    try:
        exec(code, names)
    except Exception as error:
        return error
    return None


def _said(error: Exception | None) -> str:
    return "does not" if error is None else f"says {type(error).__name__}: {str(error).splitlines()[0][:200]}"


def _difference(expected: Any, found: Any) -> str | None:
    if not isinstance(expected, torch.Tensor):
        return None if expected is None and found is None else "kind: one is no tensor"
    if not isinstance(found, gs.Tensor):
        return f"kind: is {type(found).__name__}"
    if expected.requires_grad != found.requires_grad:
        return f"requires_grad: is {found.requires_grad}, not {expected.requires_grad}"
    if expected.is_leaf != found.is_leaf:
        return f"is_leaf: is {found.is_leaf}, not {expected.is_leaf}"
    what = _apart(expected, found)
    if what is not None:
        return f"value: {what}"
    if not expected.is_leaf and not expected.retains_grad:
        return None
    theirs, ours = expected.grad, found.grad
    if (theirs is None) != (ours is None):
        return f"grad: is {'None' if ours is None else 'there'}, not {'None' if theirs is None else 'there'}"
    what = None if theirs is None else _apart(theirs, ours)
    return None if what is None else f"grad: {what}"


def _apart(expected: Any, found: Any) -> str | None:
    a, b = expected.detach().numpy(force=True), np.asarray(found.array)
    if a.shape != b.shape:
        return f" has shape {b.shape}, not {a.shape}"
    if a.dtype != b.dtype:
        return f" has dtype {b.dtype}, not {a.dtype}"
    if a.size == 0 or np.array_equal(a, b):
        return None
    finite = a[np.isfinite(a)] if a.dtype.kind == "f" else a
    scale = max(1.0, float(np.abs(finite).max())) if finite.size else 1.0
    if np.allclose(a, b, rtol=RTOL, atol=ATOL * scale, equal_nan=True):
        return None
    return f" is {b.tolist()}, not {a.tolist()}"


def first_difference(statements: list[str], may_be_refused: tuple[str, ...] = MAY_BE_REFUSED) -> Difference | None:
    """Run a program on both engines until they part."""
    twin = Twin(may_be_refused)
    with in_float64():
        for statement in statements:
            found = twin.run(statement)
            if found is not None:
                return found
    return None


class in_float64:
    """Both engines make tensors of float64, and PyTorch's warnings are silent."""

    def __enter__(self) -> None:
        self._before = torch.get_default_dtype()
        self._warnings = warnings.catch_warnings()
        self._warnings.__enter__()
        warnings.simplefilter("ignore")
        torch.set_default_dtype(torch.float64)
        gs.set_default_dtype(gs.float64)

    def __exit__(self, *_: object) -> None:
        torch.set_default_dtype(self._before)
        gs.set_default_dtype(gs.float32)
        self._warnings.__exit__(None, None, None)


def shrunk(
    statements: list[str], difference: Difference, may_be_refused: tuple[str, ...] = MAY_BE_REFUSED
) -> tuple[list[str], Difference]:
    """The fewest statements of a program that still show a difference of this kind: leave out what can be left out."""
    kept = list(statements)
    size = max(len(kept) // 2, 1)
    while True:
        place = 0
        dropped = False
        while place < len(kept):
            shorter = kept[:place] + kept[place + size :]
            found = first_difference(shorter, may_be_refused)
            if found is not None and found.kind == difference.kind:
                kept = shorter[: shorter.index(found.statement) + 1]
                difference = found
                dropped = True
            else:
                place += size
        if size == 1 and not dropped:
            return kept, difference
        size = max(size // 2, 1)


def as_text(statements: list[str], difference: Difference) -> str:
    """A program that shows a difference, to be run as it is, with either engine."""
    header = ["import torch  # or: import graphscope as torch", "torch.set_default_dtype(torch.float64)"]
    return "\n".join([*header, *statements, f"# {difference.what}"])
