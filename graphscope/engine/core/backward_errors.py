"""What can be wrong in a backward pass, in words that name the op, the line, and the tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import writes
from graphscope.engine.core.node import MOMENT, PLAN, ROW, SAVED, SITE, Node, Record, spread
from graphscope.eventlog import places
from graphscope.eventlog import record as recording


def anomaly_message(record: Record, number: int) -> str:
    """That a rule gave NaN, and where its op is."""
    site, plan = record[SITE], record[PLAN]
    where = f"the forward op, {plan.op.name}, is at {site.line}" if site is not None else f"the op was {plan.op.name}"
    return f"Function '{Node(record).name()}' returned nan values in its {plan.rules[number].index}th output: {where}"


def check_untouched(record: Record) -> None:
    """See that nothing was written into what a node saved.

    Raises:
        RuntimeError: Something was; the message says what wrote where, into what, and who had saved it.
    """
    plan = record[PLAN]
    for rule, args in zip(plan.rules, plan.arguments(record[SAVED]), strict=True):
        for name, value in zip(spread(rule, len(args)), args, strict=False):
            what = _written(value, record[MOMENT])
            if what is not None:
                raise blamed(record, _overwritten(record, name, value, what))


def _overwritten(record: Record, name: str, value: Any, what: Any) -> str:
    written_by, code, instruction = what
    shape = f" of shape {tuple(value.shape)}" if hasattr(value, "shape") else ""
    saved_at = f" (at {record[SITE].line})" if record[SITE] is not None else ""
    target, place = places.written_at(code, instruction) if code is not None else ("", "")
    where = f" (at {place})" if place else ""
    return (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"{record[PLAN].op.name}{saved_at} had saved {_saved_name(name)}{shape}, and {written_by}{where} wrote into "
        f"{target or 'it'} before backward. Use the op without the underscore, or clone() the tensor first."
    )


def _written(value: Any, moment: int) -> Any:
    """What wrote a saved value, or one of several, after `moment`."""
    if isinstance(value, tuple):
        return next((what for part in value if (what := _written(part, moment)) is not None), None)
    return writes.since(value, moment) if isinstance(value, np.ndarray | np.generic) else None


def blamed(record: Record, message: str) -> RuntimeError:
    """An error of the backward pass; the log is told which node it is about."""
    error = RuntimeError(message)
    writer = recording.writer
    if writer is not None:
        recording.exception(error, node=record[ROW] if record[ROW] >= writer.base else None)
    return error


def _saved_name(name: str) -> str:
    return "its output" if name == "out" else f"its input {name}"


def freed_message(record: Record) -> str:
    """That what a node saved is there no more."""
    return (
        f"Trying to backward through the graph a second time: what {record[PLAN].op.name} had saved was freed by the "
        "first backward. Pass retain_graph=True to the first one, or compute the loss again."
    )
