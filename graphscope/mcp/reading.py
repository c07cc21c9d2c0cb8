"""What a client may ask of logs. Nothing here runs a program, evaluates Python, or writes a file."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from graphscope.compare import diff as differences
from graphscope.debugger import expression_names
from graphscope.debugger.commands.diagnosis import why as explained
from graphscope.debugger.commands.graph import title
from graphscope.debugger.frames import same_file
from graphscope.debugger.json_data import to_json
from graphscope.debugger.step_table import steps_between
from graphscope.debugger.value_results import as_array, kept_statistics, statistics
from graphscope.diagnose import doctor as judged
from graphscope.errors import CommandError
from graphscope.eventlog.siblings import family, ranks_among
from graphscope.graph.step_numbers import step_numbers
from graphscope.mcp.pages import LONGEST, cut, page

if TYPE_CHECKING:
    from graphscope.debugger.debugger import Debugger
    from graphscope.eventlog.names import Site
    from graphscope.graph import Graph, Node
    from graphscope.mcp.opened import Opened

_ENDINGS: Final = ("*.gscope", "*.gscope.zip")
_INDEX: Final = re.compile(r"[-\d:,.\s]*")


class Reading:
    """Questions about logs.

    Args:
        opened: The logs that were asked about.
    """

    def __init__(self, opened: Opened) -> None:
        self._opened = opened

    def recordings(self, folder: str = ".", offset: int = 0, limit: int = 20) -> dict[str, Any]:
        """List the recordings (logs) in a folder, the newest first. Every other tool takes the path of one as `log`."""
        place = Path(folder).expanduser()
        if not place.is_dir():
            raise CommandError(f"There is no folder {folder!r}")
        found = sorted((log for ending in _ENDINGS for log in place.glob(ending)), key=_written, reverse=True)
        return page(found, offset, limit, str)

    def doctor(self, log: str, offset: int = 0, limit: int = 10) -> dict[str, Any]:
        """Say what is wrong with a recorded run: begin with this one.

        Each finding has the line of the program to blame, the node (`row`), what was measured, and the cure; a healthy
        run has none. Of a run of several ranks it says, too, which rank parts from the others.
        """
        found = self._opened.debugger(log)
        ranks = ranks_among(family(found.log.path))
        report = judged(*(ranks if len(ranks) > 1 else [found.log]))
        told = report.data()
        return {
            "events": report.events,
            **page(told["findings"], offset, limit),
            "unjudged": told["unjudged"],
        }

    def why(self, log: str, tensor: str) -> dict[str, Any]:
        """Explain why the gradient of a tensor is None, zero or not finite, with the way to the loss and the culprit.

        `tensor` is a name (`fc1.weight`), a node (`#12`) or a SPEC as `nodes` takes it.
        """
        with self._opened.turn:
            return dict(to_json(explained(self._opened.debugger(log), tensor)))

    def diff(self, log: str, other: str, exact: bool = False) -> dict[str, Any]:
        """Say where two recorded runs part first: pass, step, op and line on both sides, how far, and why.

        With `exact` they are compared bit by bit.
        """
        with self._opened.turn:
            found = differences(self._opened.debugger(log).log, self._opened.debugger(other).log, exact=exact)
            told = found.data()
        others = told.pop("others")
        return {**told, "others": page(others, 0, 10)}

    def nodes(self, log: str, select: str = "", offset: int = 0, limit: int = 50) -> dict[str, Any]:
        """List nodes of the graph, in the order in which they ran.

        `select` is a SPEC: `#12`, `op:mul`, `name:fc1.*`, `scope:encoder.*`, `line:model.py:31`, joined with `and`, and
        `forward` or `backward` to name the pass. Empty means all.
        """
        graph = self._graph(log)
        found = graph.select(select) if select.strip() else graph.nodes
        return page(found, offset, limit, _brief)

    def node(self, log: str, row: int) -> dict[str, Any]:
        """Tell all of a node: its op and formula, line, module, statistics of value and gradient, inputs and users."""
        found = self._graph(log).node(row)
        return {
            **_brief(found),
            "formula": found.formula,
            "scope": found.scope,
            "constants": {name: cut(text, 200) for name, text in found.constants},
            "duration_ns": found.duration,
            "value": _numbers(found, "value"),
            "grad": _numbers(found, "grad"),
            "forward": None if found.forward is None else title(found.forward),
            "inputs": page([title(edge.source) for edge in found.inputs], 0, 50),
            "users": page([title(edge.target) for edge in found.users], 0, 50),
            "backward": page([title(each) for each in found.backward], 0, 50),
        }

    def value(
        self,
        log: str,
        row: int,
        of: Literal["value", "grad"] = "value",
        index: str = "",
        offset: int = 0,
        limit: int = 50,
    ) -> dict[str, Any]:
        """Read elements of a node's value or gradient, in row-major order, with statistics of all of them.

        `index` picks a part first, as NumPy has it: `0`, `:, 3`, `-1, 10:20`.
        """
        found = self._graph(log).node(row)
        array = as_array(_array(found, of))
        told = {"node": title(found), **(_numbers(found, of) or {})}
        if array is None:
            return {**told, "kept": False}
        if index.strip():
            array = _part(array, index)
        flat = array.reshape(-1)
        begin, most = max(offset, 0), max(1, min(limit, LONGEST))
        told_elements = [_element(each) for each in flat[begin : begin + most].tolist()]
        end = begin + most
        following = end if end < flat.size else None
        return {**told, "kept": True, "shape": list(array.shape), "items": told_elements, "total": flat.size,
                "next_offset": following}  # fmt: skip

    def source(self, log: str, file: str, first: int = 1, limit: int = 60) -> dict[str, Any]:
        """Read lines of a source file as it was when it ran; `file` is its path or name."""
        recording = self._opened.debugger(log).log
        known = [
            str(entry["file"]) for entry in recording.table("sources") if isinstance(entry, dict) and "file" in entry
        ]
        path = next((name for name in known if same_file(name, file)), None)
        text = None if path is None else recording.source(path)
        if text is None:
            raise CommandError(
                f"The source of {file!r} was not recorded", f"recorded: {', '.join(known[:20]) or 'none'}"
            )
        told = page(text.splitlines(), first - 1, limit)
        lines = {str(number): line for number, line in enumerate(told["items"], max(first, 1))}
        return {"file": path, "lines": lines, "total": told["total"], "next_first": _behind(told["next_offset"])}

    def steps(self, log: str, offset: int = 0, limit: int = 30) -> dict[str, Any]:
        """List the training steps: rows, counters of the loops, loss, norm of gradients, learning rate, findings."""
        with self._opened.turn:
            graph = self._graph(log)
            total = len(step_numbers(graph.log))
            told = page(range(total), offset, limit)
            places = told["items"]
            found = steps_between(graph, places[0], places[-1] + 1) if places else ()
            return {**told, "items": [to_json(each) for each in found]}

    def _graph(self, log: str) -> Graph:
        """The graph of a log as of its end."""
        debugger: Debugger = self._opened.debugger(log)
        return debugger.graph.at(debugger.last_row)


def _owning_up(tool: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """A tool whose answer owns up to what is missing of the logs that it is asked about."""

    @functools.wraps(tool)
    def answer(reading: Reading, /, **arguments: Any) -> dict[str, Any]:
        logs = [arguments[name] for name in ("log", "other") if name in arguments]
        return {**tool(reading, **arguments), **reading._opened.owning_up(*logs)}

    return answer


_OF_LOGS: Final[tuple[Callable[..., dict[str, Any]], ...]] = (
    Reading.why, Reading.diff, Reading.steps, Reading.nodes, Reading.node, Reading.value, Reading.source,
)  # fmt: skip

READING: Final = (Reading.recordings, Reading.doctor, *map(_owning_up, _OF_LOGS))
"""The tools of every client: the docstring and the signature of each are all that a client knows of it."""


def _written(log: Path) -> float:
    """When a recording was begun or finished last."""
    return max(path.stat().st_mtime for path in (log, log / "log.json") if path.exists())


def _behind(offset: int | None) -> int | None:
    return None if offset is None else offset + 1


def _brief(node: Node) -> dict[str, Any]:
    """A node in one line of data."""
    return {
        "row": node.row,
        "op": node.label,
        "name": node.name,
        "kind": node.kind,
        "pass": node.graph_pass,
        "shape": list(node.shape),
        "dtype": node.dtype,
        "line": _place(node.site),
        "source": node.source_line,
    }


def _place(site: Site | None) -> str:
    return "" if site is None else f"{site.file}:{site.line}"


def _array(node: Node, of: str) -> object:
    return expression_names.value_of(node) if of == "value" else expression_names.grad_of(node)


def _numbers(node: Node, of: str) -> dict[str, Any] | None:
    """Shape, dtype and statistics of a node's value or gradient; None of one that is not there, or was not kept."""
    array = as_array(_array(node, of))
    if array is None:
        kept = kept_statistics(node) if of == "value" else None
        return None if kept is None else {"statistics": _without_type(to_json(kept))}
    found = statistics(array)
    alone = _element(array.item()) if array.size == 1 else None
    told = {"item": alone} if found is None else {"statistics": _without_type(to_json(found))}
    return {"shape": list(array.shape), "dtype": str(array.dtype), **told}


def _without_type(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != "type_name"}


def _part(array: np.ndarray, index: str) -> np.ndarray:
    """What an index picks of an array.

    Raises:
        CommandError: It is none, or the array has no such element.
    """
    if not _INDEX.fullmatch(index):
        raise CommandError(f"{index!r} is no index", "for example `0`, `:, 3` or `-1, 10:20`")
    parts = [each.strip() for each in index.split(",")]
    try:
        chosen = tuple(... if each == "..." else _range(each) if ":" in each else int(each) for each in parts if each)
        return np.asarray(array[chosen])
    except (ValueError, IndexError) as error:
        raise CommandError(f"{index!r} does not fit an array of shape {array.shape}: {error}") from None


def _range(text: str) -> slice:
    return slice(*(int(each) if each.strip() else None for each in text.split(":")))


def _element(value: Any) -> Any:
    """A number as JSON has it: what JSON lacks is text."""
    if isinstance(value, complex) or (isinstance(value, float) and value - value != 0):
        return str(value)
    return value if isinstance(value, int | float | str | bool) else str(value)
