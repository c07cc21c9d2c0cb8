"""What tests of a training assert: it is healthy, gradients arrive, the graph has the structure that it had."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def assert_healthy(log: Log | str | os.PathLike[str]) -> None:
    """Fail where the doctor finds something in a log, or where nothing was recorded."""
    __tracebackhide__ = True
    from graphscope.diagnose import doctor

    report = doctor(log)
    if report or not report.events:
        raise AssertionError(str(report))


def assert_gradients_flow(model: Any) -> None:
    """Fail where a parameter that requires grad has no gradient, or one that is zero or not finite; say why.

    Args:
        model: A module, or tensors; `backward()` has been called on the loss.
    """
    __tracebackhide__ = True
    from graphscope.diagnose import explain

    failing = []
    named = list(_named(model))
    for name, tensor in named:
        found = explain(tensor)
        if found.symptom != "fine":
            failing.append(f"{name}: {found.verdict}" + (f" (cure: {found.cure})" if found.cure else ""))
    if not named:
        raise AssertionError("there is no parameter that requires grad")
    if failing:
        raise AssertionError("\n".join([f"{len(failing)} of {len(named)} parameters get no sound gradient", *failing]))


def assert_structure(log: Log | str | os.PathLike[str], pin: Path, *, write: bool = False) -> None:
    """Fail where the forward pass of a log has another structure than a file says.

    Args:
        log: A log, or the path of one.
        pin: The file.
        write: Write it in place of comparing.
    """
    __tracebackhide__ = True
    lines = list(structure(log))
    if write:
        pin.parent.mkdir(parents=True, exist_ok=True)
        pin.write_text("\n".join([*lines, ""]), encoding="utf-8")
        return
    if not pin.exists():
        raise AssertionError(f"there is no {pin} to compare with: `pytest --graphscope-pin` writes it, once")
    before = pin.read_text(encoding="utf-8").splitlines()
    difference = list(unified_diff(before, lines, str(pin), "this run", lineterm="", n=2))
    if difference:
        cure = "if that is meant, `pytest --graphscope-pin` writes it anew"
        raise AssertionError("\n".join(["the graph has another structure", *difference, cure]))


def assert_as_before(
    log: Log | str | os.PathLike[str], baseline: Path, *, write: bool = False, rtol: float | None = None
) -> None:
    """Fail where a run does not do what a baseline keeps of an earlier one; say where they part first.

    Args:
        log: A log, or the path of one.
        baseline: The file.
        write: Write it in place of comparing.
        rtol: Statistics may differ by this part of the largest element; default: what rounding explains.
    """
    __tracebackhide__ = True
    from graphscope.compare import departure, read_baseline, save_baseline

    run = _opened(log)
    run.refresh()
    if write:
        save_baseline(run, baseline)
        return
    if not baseline.exists():
        raise AssertionError(f"there is no {baseline} to compare with: `pytest --graphscope-baseline` writes it, once")
    found = departure(read_baseline(baseline), run, rtol)
    if found or not found.matched:
        cure = "if that is meant, `pytest --graphscope-baseline` writes it anew"
        raise AssertionError("\n".join([str(found), cure]))


def structure(log: Log | str | os.PathLike[str]) -> Iterator[str]:
    """A line for each node of the forward pass: its module, op, shape, and what it takes, by name or by distance."""
    from graphscope.graph import Graph

    graph = Graph(_opened(log))
    places: dict[int, int] = {}
    for node in graph.nodes:
        if node.graph_pass == "backward" or (node.kind == "leaf" and node.tensor != node.row):
            continue
        places[node.row] = len(places)
        sources = [edge.source for edge in node.inputs]
        taken = [
            source.name or f"{source.label} -{places[node.row] - places.get(source.row, places[node.row])}"
            for source in sources
        ]
        shape = "x".join(map(str, node.shape)) or "scalar"
        scope = f"{node.scope}: " if node.scope else ""
        name = f" {node.name}" if node.name else ""
        yield f"{scope}{node.op}{name} ({shape} {node.dtype})" + (f" <- {', '.join(taken)}" if taken else "")


def _opened(log: Log | str | os.PathLike[str]) -> Log:
    from graphscope.eventlog.reader import Log as Opened
    from graphscope.eventlog.reader import load

    return log if isinstance(log, Opened) else load(log)


def _named(model: Any) -> Iterable[tuple[str, Any]]:
    if hasattr(model, "named_parameters"):
        named = list(model.named_parameters())
    else:
        named = [(str(number), tensor) for number, tensor in enumerate(model)]
    return [(name, tensor) for name, tensor in named if tensor.requires_grad]
