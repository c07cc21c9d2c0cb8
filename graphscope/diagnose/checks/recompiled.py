"""A function that is compiled again and again, because something that it relies on changes from step to step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.finding import Finding
from graphscope.eventlog.names import place_of
from graphscope.graph.compilation import CompilerEvent, compilation
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_LEAST: Final = 4
"""So many compilations of a function, in as many training steps, must have come of the same guard."""
_VALUE: Final = re.compile(r"'[^']*'$|\"[^\"]*\"$|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|(?<=expected )\w+|(?<=actual )\w+")
_CURES: Final = {
    " size mismatch ": "compile it with `dynamic=True`, or mark what changes with `torch._dynamo.mark_dynamic`",
    " dtype mismatch": "give it tensors of one dtype",
    " requires_grad mismatch": "give it tensors that require gradients always, or never",
}
_CURE: Final = "pass what changes as a tensor, or compute it outside of the compiled function"


@check(
    "compiled again and again",
    reads=("marks", "training", "rows"),
    shows="run",
    capture="compiled",
    sample="""
        import torch

        def scaled(x, name):
            return x * len(name)

        compiled = torch.compile(scaled, backend="eager")
        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.01)
        for step in range(6):
            optimizer.zero_grad()
            loss = (compiled(weight, "step" + "." * step) - 1).square().sum()
            loss.backward()
            optimizer.step()
        """,
    healthy="""
        import torch

        def scaled(x, name):
            return x * len(name)

        compiled = torch.compile(scaled, backend="eager")
        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.01)
        for step in range(6):
            optimizer.zero_grad()
            loss = (compiled(weight, "step" + "." * (step % 2)) - 1).square().sum()
            loss.backward()
            optimizer.step()
        """,
)
def recompiled(graph: Graph) -> Iterator[Finding]:
    """A compiled function relies on something that changes from step to step, and is compiled again each time.

    Once torch.compile has done so eight times it gives up, and the function runs op by op.
    """
    log = graph.log
    for again in _groups(log):
        first = again[0]
        guard = first.failed[0]
        all_of_it = [each for each in compilation(log).events if _function(each) == _function(first)]
        gave_up = any(each.event == "skipped" and each.failed for each in all_of_it)
        end = ", and from then on it runs op by op: torch.compile has given up" if gave_up else ""
        verdict = (
            f"{first.function} is compiled again in {len(again)} training steps, because `{guard.guard}` holds no more "
            f"when it is called next{end}"
        )
        cure = next((cure for words, cure in _CURES.items() if words in guard.guard), _CURE)
        place = place_of(log.site(guard.site or first.site))
        yield Finding(
            "recompiled", "warning", again[_LEAST - 1].row, None, *place, (), "recompiled", verdict, cure,
            {"compilations": sum(each.event == "compiled" for each in all_of_it)}, first_row=first.row,
        )  # fmt: skip


def _groups(log: Log) -> Iterator[list[CompilerEvent]]:
    """The compilations of a function that came of one guard, each in a training step of its own."""
    ends = training(log).step_ends
    groups: dict[tuple[Any, ...], list[CompilerEvent]] = {}
    for each in compilation(log).events:
        if each.failed:
            guard = _VALUE.sub("", each.failed[0].guard)
            groups.setdefault((*_function(each), guard), []).append(each)
    for found in groups.values():
        steps = np.searchsorted(ends, [each.row for each in found])
        if len(np.unique(steps)) == len(found) >= _LEAST:
            yield found


def _function(event: CompilerEvent) -> tuple[str, str, int]:
    """What tells compiled functions apart: numbers begin anew where the compiler is reset."""
    return event.number, event.function, event.site
