"""Results and what else travels between processes as JSON: a dataclass names its type under `type_name`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final, get_args

from graphscope.debugger import results
from graphscope.debugger.inspection import Entry
from graphscope.debugger.nodes import Pending
from graphscope.debugger.setup import Setup
from graphscope.debugger.step_targets import Target
from graphscope.diagnose import Finding, Row, Step, Unjudged
from graphscope.eventlog.names import Site
from graphscope.graph.select import Selector, Term


def to_json(found: object) -> Any:
    """Data as plain JSON; NaN and Inf, which JSON lacks, are text."""
    if is_dataclass(found) and not isinstance(found, type):
        body = {field.name: to_json(getattr(found, field.name)) for field in fields(found)}
        return {"type_name": type(found).__name__, **body}
    if isinstance(found, (tuple, list)):
        return [to_json(item) for item in found]
    if isinstance(found, Mapping):
        return {"type_name": "dict", "items": [[to_json(key), to_json(value)] for key, value in found.items()]}
    if isinstance(found, Row):
        return {"type_name": Row.__name__, "number": int(found)}
    if isinstance(found, float) and not math.isfinite(found):
        return str(found)
    return found


def from_json(found: Any) -> Any:
    """What `to_json` was given: dataclasses by their `type_name`, tuples for lists."""
    if isinstance(found, list):
        return tuple(map(from_json, found))
    if not isinstance(found, dict):
        return found
    if found["type_name"] == "dict":
        return dict(map(from_json, found["items"]))
    if found["type_name"] == Row.__name__:
        return Row(found["number"])
    kind = KINDS[found["type_name"]]
    body = {key: from_json(value) for key, value in found.items() if key != "type_name"}
    if kind in (results.Statistics, results.TrainingStep):
        body = _with_numbers(body)
    if kind is Finding:
        body["evidence"] = _with_numbers(body["evidence"])
    return kind(**body)


_NOT_FINITE: Final = ("nan", "inf", "-inf")


def _with_numbers(body: Mapping[str, Any]) -> dict[str, Any]:
    """The same with what `to_json` wrote as text as numbers again."""
    return {key: float(value) if value in _NOT_FINITE else value for key, value in body.items()}


_PARTS: Final = (
    results.Again, results.Bookmark, results.BreakpointInfo, results.Change, results.Display, results.Frame,
    results.NodeInfo, results.Place, results.Raised, results.Rank, results.Statistics, results.TrainingStep,
    results.WatchInfo,
    Entry, Finding, Pending, Selector, Setup, Site, Step, Target, Term, Unjudged,
)  # fmt: skip

KINDS: Final[dict[str, type]] = {kind.__name__: kind for kind in (*get_args(results.Result), *_PARTS)}
"""Everything that travels, by its `type_name`."""
