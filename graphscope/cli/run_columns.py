"""What is told of each run of a sweep, a column each: on the screen, on a page, and to sort and choose by."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from graphscope.diagnose.runs import Run
from graphscope.errors import UsageError
from graphscope.graph.quantities import time_text

Value = str | float | None
"""None stands for what is not known."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, what it holds of a run, and how that is written."""

    name: str
    value: Callable[[Run], Value]
    text: Callable[[Value], str] = str
    justify: Literal["left", "right"] = "right"
    least: int = 0
    """In narrower terminals it is left out."""


def _number(value: Value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else ""


def _count(value: Value) -> str:
    return f"{value:,.0f}" if isinstance(value, float) else str(value)


def _time(value: Value) -> str:
    return time_text(1e9 * value) if isinstance(value, float) else ""


NAME: Final = Column("run", lambda run: run.name, justify="left")

COLUMNS: Final = (
    Column("recording", lambda run: run.state, justify="left", least=120),
    Column("ranks", lambda run: float(run.ranks), _count, least=140),
    Column("steps", lambda run: float(run.steps), _count),
    Column("first rate", lambda run: run.first_rate, _number, least=100),
    Column("last rate", lambda run: run.last_rate, _number, least=70),
    Column("loss", lambda run: run.loss, _number),
    Column("best", lambda run: run.best, _number, least=100),
    Column("gradient", lambda run: run.gradient, _number, least=90),
    Column("step time", lambda run: run.seconds, _time, least=100),
    Column("first NaN", lambda run: run.nan, justify="left", least=60),
    Column("found", lambda run: ", ".join(run.found), justify="left"),
)
"""Behind what the runs were given."""


def columns_of(runs: Sequence[Run]) -> list[Column]:
    """The columns of some runs: their names, what they were given where that differs, and the facts that are known."""
    names = dict.fromkeys(name for run in runs for name in run.arguments)
    differing = [name for name in names if len({run.arguments.get(name) for run in runs}) > 1]
    given = [Column(_title(name), _argument(name), justify="right") for name in differing]
    untold = {"ranks"} if len({run.ranks for run in runs}) == 1 else set()
    untold |= {"first rate"} if all(run.first_rate == run.last_rate for run in runs) else set()
    facts = [each for each in COLUMNS if each.name not in untold]
    programs = [Column("program", lambda run: run.program, justify="left")] if _several(runs) else []
    return [NAME, *programs, *given, *facts]


def shared(runs: Sequence[Run]) -> str:
    """What all runs were given, as one would type it: `train.py --epochs 3`."""
    first = runs[0].arguments
    same = {name: value for name, value in first.items() if all(run.arguments.get(name) == value for run in runs)}
    words = [value if name.isdigit() else f"--{name} {value}" for name, value in same.items()]
    return " ".join([*([] if _several(runs) else [runs[0].program]), *words])


def ordered(runs: Sequence[Run], columns: Sequence[Column], name: str, *, descending: bool) -> list[Run]:
    """Runs by a column: numbers by their size, those that are not known last, else words.

    Raises:
        UsageError: There is no such column.
    """
    value = _named(columns, name).value
    keyed = [(_key(value(run)), run) for run in runs]
    known = sorted((each for each in keyed if each[0][0] < 2), key=lambda each: each[0], reverse=descending)
    return [run for _, run in (*known, *(each for each in keyed if each[0][0] == 2))]


def chosen(runs: Sequence[Run], columns: Sequence[Column], wanted: str) -> list[Run]:
    """The runs of which a condition holds: `lr>0.01`, `loss<1`, `found=nan` (of words: that they are in it).

    Raises:
        UsageError: It is no condition, or there is no such column.
    """
    match = re.fullmatch(r"\s*([^<>=!]+?)\s*(<=|>=|!=|=|<|>)\s*([^<>=!].*?|)\s*", wanted)
    if match is None:
        raise UsageError(f"{wanted!r} is no condition", "For example: --where 'lr>0.01', or --where found=nan")
    value, compare, limit = _named(columns, match[1]).value, _COMPARED[match[2]], _key(match[3])
    if match[2] not in ("=", "!=") and limit[0]:
        raise UsageError(f"{match[3]!r} in {wanted!r} is no number", "For example: --where 'lr>0.01'")
    found = []
    for run in runs:
        own = _key(value(run))
        if own[0] == limit[0] == 0:
            holds = compare(own, limit)
        else:
            holds = (match[3] in str(value(run))) == (match[2] == "=") and match[2] in ("=", "!=")
        found += [run] * holds
    return found


_COMPARED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "=": operator.eq, "!=": operator.ne,
}  # fmt: skip


def _key(value: Value) -> tuple[int, float, str]:
    """Numbers, also as words, ahead of words; last what is not known, or no number."""
    try:
        number = float("nan" if value in (None, "") else value)
    except ValueError:
        return 1, 0.0, str(value)
    return (0, number, "") if number == number else (2, 0.0, "")


def _named(columns: Sequence[Column], name: str) -> Column:
    found = next((each for each in columns if each.name == name.removeprefix("--")), None)
    if found is None:
        raise UsageError(f"there is no column {name!r}", f"There are {', '.join(each.name for each in columns)}.")
    return found


def _several(runs: Sequence[Run]) -> bool:
    return len({run.program for run in runs}) > 1


def _title(name: str) -> str:
    return f"argument {name}" if name.isdigit() or name in {each.name for each in (NAME, *COLUMNS)} else name


def _argument(name: str) -> Callable[[Run], Value]:
    return lambda run: run.arguments.get(name, "")
