"""Networks that are evaluated as if they were trained, or trained as if they were evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.finding import Finding, Row
from graphscope.diagnose.training.begun_in_evaluation import is_begun_in_evaluation
from graphscope.diagnose.training.evaluations import Run, evaluations
from graphscope.diagnose.training.modal_layers import dropout_rows, is_in_module, off_and_on
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.diagnose.training.parts_in_evaluation import Part, parts_left
from graphscope.diagnose.training.teachers import Teacher, teachers
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.names import place_of
from graphscope.graph.callers import callers
from graphscope.graph.training import Call, Module, Training, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_LEAST: Final = 3
"""So many steps must follow."""
_MODAL: Final = ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "BatchNorm", "SyncBatchNorm")
"""Classes of modules that act otherwise in training, without the number of dimensions at their ends."""


class Left(NamedTuple):
    """A module that was left in evaluation."""

    row: int
    """The first gradient of the third pass of training that follows."""
    first: int
    """Where the first one begins."""
    call: Call
    module: Module
    passes: int


@check(
    "mode of training or evaluation forgotten",
    reads=("marks", "training", "rows"),
    shows="run",
    sample="""
        import torch

        def evaluate(net, x, y):
            net.eval()
            with torch.no_grad():
                return (net(x).argmax(1) == y).float().mean()

        net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for epoch in range(3):
            for _ in range(3):
                x = torch.randn(6, 4)
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long()).backward()
                optimizer.step()
            x = torch.randn(6, 4)
            evaluate(net, x, (x[:, 0] > 0).long())
        """,
    healthy="""
        import torch

        def evaluate(net, x, y):
            net.eval()
            with torch.no_grad():
                return (net(x).argmax(1) == y).float().mean()

        net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for epoch in range(3):
            net.train()
            for _ in range(3):
                x = torch.randn(6, 4)
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long()).backward()
                optimizer.step()
            x = torch.randn(6, 4)
            evaluate(net, x, (x[:, 0] > 0).long())
        """,
)
def train_eval_mode(graph: Graph) -> Iterator[Finding]:
    """A network with dropout or batch norm is trained in the mode of evaluation, or evaluated in that of training."""
    read = training(graph.log)
    for left in _left_in_evaluation(graph.log):
        place = read.place(left.call.site)
        verdict = (
            f"{left.module.type} is left in evaluation here: {left.passes} backward passes of training follow with "
            "its dropout and batch norms as in evaluation"
        )
        cure = "call train() when the evaluation is over, or at the start of each epoch"
        evidence = {"backward passes in evaluation": left.passes}
        yield Finding(
            "train_eval_mode", "warning", left.row, None, *place, (), "left in evaluation", verdict, cure, evidence,
            first_row=left.first,
        )  # fmt: skip
    for part in parts_left(graph.log):
        yield _of_part(read, part)
    for teacher in teachers(graph.log):
        yield _of_teacher(graph, teacher)
    for run in _unevaluated(graph):
        row = run.row
        if _is_dropped_anyway(graph, run):
            place = place_of(graph.node(row).site)
            verdict = (
                f"the network is evaluated in its mode of evaluation, and yet this {run.op} (#{run.row}) drops: a "
                "function does not know of the mode, and drops unless it is told"
            )
            cure = f"{run.op}(..., training=self.training), or a module: torch.nn.Dropout"
            evidence = {"layer": Row(run.row), "compared at": Row(run.compared)}
            yield Finding(
                "train_eval_mode", "warning", row, run.row, *place, (), "dropped in evaluation", verdict, cure, evidence
            )
        else:
            place = place_of(callers(graph.log, run.row).outermost)
            verdict = (
                f"the network that is evaluated here is in the mode of training: its {run.op} (#{run.row}) acts as in "
                "training, without gradients, and the outcome is compared"
            )
            cure = "call eval() on the network ahead of the evaluation, and train() behind it"
            evidence = {"layer": Row(run.row), "compared at": Row(run.compared)}
            yield Finding(
                "train_eval_mode", "warning", row, run.row, *place, (), "evaluated in training", verdict, cure, evidence
            )


def _of_teacher(graph: Graph, teacher: Teacher) -> Finding:
    place = place_of(callers(graph.log, teacher.row).outermost)
    verdict = (
        f"what {teacher.module.type} says here is taken for right in {teacher.runs} losses, and it is trained no more, "
        f"but its {teacher.op} (#{teacher.row}) acts as in training"
    )
    cure = "call eval() on the network that teaches, once it is trained"
    evidence = {"layer": Row(teacher.row), "compared at": Row(teacher.compared)}
    return Finding(
        "train_eval_mode", "warning", teacher.row, teacher.row, *place, (), "teaches in training", verdict, cure,
        evidence,
    )  # fmt: skip


def _of_part(read: Training, part: Part) -> Finding:
    kind = part.call.facts.get("type", "a part")
    verdict = (
        f"{kind} alone is switched to evaluation here, for a run without gradients, and never back: {part.passes} "
        "backward passes of training follow without it"
    )
    cure = "call train() on the network when the evaluation is over, or at the start of each epoch"
    place, evidence = read.place(part.call.site), {"backward passes in evaluation": part.passes}
    return Finding(
        "train_eval_mode", "warning", part.row, None, *place, (), "left in evaluation", verdict, cure, evidence,
        first_row=part.first,
    )  # fmt: skip


def _left_in_evaluation(log: Log) -> Iterator[Left]:
    read = training(log)
    for module in read.modules.values():
        calls = read.calls("eval", "train", owner=module.number)
        if not _is_modal(log, module) or not calls or calls[-1].name != "eval" or calls[-1].facts.get("others"):
            continue
        grown = parameter_rows(log).grown.of([each for each in module.parameters.values() if each is not None])
        is_kept = len(read.rows("load_state_dict", owner=module.number)) > 0
        begun = is_begun_in_evaluation(log, module)
        call = calls[0] if begun else calls[-1]
        after = grown.rows[grown.rows > call.row]
        passes = each_once(np.searchsorted(read.backward_begins, after))
        started = (grown.rows < call.row).any()
        if len(passes) < _LEAST or not (started or not is_kept):
            continue
        begin = int(read.backward_begins[passes[0] - 1])
        if begun or (_runs_without_gradients(log, call.row, begin) and not _is_moded(read, module, call.row)):
            third = after[np.searchsorted(read.backward_begins, after) == passes[_LEAST - 1]][0]
            yield Left(int(third), begin, call, module, len(passes))


def _is_modal(log: Log, module: Module) -> bool:
    """Whether a module has parts that act otherwise in training."""
    kinds = {each.rstrip("123d") for each in module.modules.values()} & set(_MODAL)
    return bool(kinds - {"Dropout", "AlphaDropout", "FeatureAlphaDropout"}) or bool(kinds and _drops(log))


def _drops(log: Log) -> bool:
    """Whether dropout ran at all: it may be there with a probability of 0."""
    return bool(len(dropout_rows(log)))


def _runs_without_gradients(log: Log, start: int, stop: int) -> bool:
    """Whether the first op of a stretch that asks for gradients comes after others that ran without."""
    off, on = off_and_on(log, start, stop)
    return bool(len(off)) and (not len(on) or bool(off[0] < on[-1]))


def _is_moded(read: Training, module: Module, row: int) -> bool:
    """Whether the mode of another module was turned on since: one that this is part of, or a part of it."""
    others = read.calls("train")
    return any(each.row > row and each.owner != module.number for each in others)


def _unevaluated(graph: Graph) -> Iterator[Run]:
    """Evaluations of learned networks in the mode of training, which nobody asked for."""
    read = training(graph.log)
    grown = parameter_rows(graph.log).grown
    calls = read.rows("train")
    for run in evaluations(graph):
        mine = grown.of(run.parameters).rows
        before = mine[mine < run.row]
        last = int(before[-1]) if len(before) else -1
        asked = calls[(calls > last) & (calls < run.row)]
        if len(mine) and not len(asked):
            yield run


def _is_dropped_anyway(graph: Graph, run: Run) -> bool:
    """Whether a function drops that is not told of any mode, in a network that was set to evaluation for this run."""
    read, node = training(graph.log), graph.node(run.row)
    if "dropout" not in run.op or is_in_module(graph.log, run.row) or _TOLD.search(node.source_line):
        return False
    set_last = next((each for each in reversed(read.calls("eval", "train")) if each.row < run.row), None)
    owner = None if set_last is None or set_last.name != "eval" else read.modules.get(set_last.owner)
    return owner is not None and run.parameters <= {each for each in owner.parameters.values() if each is not None}


_TOLD: Final = re.compile(r"\bdropout\w*\(.*\btraining\b")
