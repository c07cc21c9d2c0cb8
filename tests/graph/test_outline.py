"""The outline of a log, compared with what the program that it is of saw itself, and with a plain reading."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphscope as gs
from graphscope.eventlog import record as recording
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.writer import Writer
from graphscope.graph.outline import SectionKind, Stretch, outline, steps
from graphscope.graph.outline.calls import Calls
from graphscope.graph.outline.outline import BLOCK, Outline
from graphscope.graph.outline.stretches import Carried, stretch


def next_row() -> int:
    """The number of the row that is written next."""
    writer = recording.active()
    assert writer is not None
    return writer.end - writer.base


def sections_of(log: Log, kind: SectionKind) -> list[Any]:
    found = []
    for number in range(log.first // BLOCK, (log.end - 1) // BLOCK + 1):
        part = outline(log).stretch(number).sections
        found += part[(part["kind"] == kind) & ~part["goes_on"]].tolist()
    return found


# Modules -------------------------------------------------------------------------------------------------------------


class Watched:
    """What a network says of itself: which rows each call of a module had, and which module each rule was of."""

    def __init__(self, network: Any) -> None:
        self.calls: list[tuple[str, int, int]] = []
        self.rules: list[str] = []
        self._begun: list[tuple[int, set[Any]]] = []
        self._known: set[Any] = set()
        for name, module in network.named_modules():
            if name:
                module.register_forward_pre_hook(self._begin)
                module.register_forward_hook(lambda *given, name=name: self._end(name, given[2]))

    def _begin(self, module: Any, given: Any) -> None:
        self._begun.append((next_row() - 1, {each.grad_fn for each in given if each.grad_fn is not None}))

    def _end(self, name: str, given: Any) -> None:
        first, outside = self._begun.pop()
        self.calls.append((name, first, next_row()))
        waiting = [(given[0] if isinstance(given, tuple) else given).grad_fn]
        visited = set(outside)
        while waiting:
            node = waiting.pop()
            if node is None or node in visited:
                continue
            visited.add(node)
            waiting += [following for following, _ in node.next_functions]
            if node not in self._known and type(node).__name__ != "AccumulateGrad":  # else of a module inside of this
                self._known.add(node)
                node.register_prehook(lambda _, name=name: self.rules.append(name))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> tuple[Log, Watched]:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)

    class Classifier(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0)
            self.encoder = torch.nn.TransformerEncoder(layer, 2)
            self.mix = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 8))
            self.head = torch.nn.Linear(8, 3)

        def forward(self, x: Any) -> Any:
            x = self.encoder(x).mean(dim=1)
            x = self.mix(self.mix(x))  # two calls of the same modules, one right behind the other
            return self.head(x)

    network = Classifier()
    watched = Watched(network)
    path = tmp_path_factory.mktemp("outline") / "encoder.gscope"
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    with gs.record(path):
        for _ in range(2):
            loss = network(torch.ones(2, 3, 8)).square().sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return load(path), watched


@pytest.mark.torch
def test_forward_scopes_are_the_calls_of_the_modules(encoder: tuple[Log, Watched]) -> None:
    log, watched = encoder
    names = ("first", "last", "kind", "slot", "level", "is_backward", "parent", "subject", "scope", "goes_on")
    found = [dict(zip(names, section, strict=True)) for section in sections_of(log, SectionKind.SCOPE)]
    calls = [(log.scope_path(each["scope"]), each["first"], each["last"]) for each in found if not each["is_backward"]]

    assert sorted(calls) == sorted(watched.calls)
    assert all(each["subject"] == each["first"] for each in found if not each["is_backward"])


def path_of(log: Log, found: Stretch, row: int) -> tuple[str, ...]:
    """The modules that a row lies in, by the headers above it."""
    scopes = [found.sections[place] for place in found.within(row)]
    return tuple(log.scope_path(int(each["scope"])) for each in scopes if each["kind"] == SectionKind.SCOPE)


@pytest.mark.torch
def test_backward_scopes_are_those_of_the_modules_whose_rules_run(encoder: tuple[Log, Watched]) -> None:
    log, watched = encoder
    found = outline(log).stretch(0)
    rows = [row for row in range(log.first, log.end) if log.event(row).kind == Kind.GRAD]
    seen = []
    for row in rows:
        path = path_of(log, found, row)
        told = log.scope_path(log.event(row).scope)
        assert told == (path[-1] if path else "") or told.startswith(path[-1] if path else ""), row
        seen.append(told)

    # A run of rules of one module, as the rules themselves said when they ran.
    runs = [name for name, _ in groupby(name for name in seen if name)]
    assert runs == [name for name, _ in groupby(watched.rules)]


@pytest.mark.torch
def test_backward_sections_hold_the_rows_of_one_call_and_nothing_else(encoder: tuple[Log, Watched]) -> None:
    log, watched = encoder
    found = outline(log).stretch(0)
    spans = {first: (first, last) for _, first, last in watched.calls}
    backward = found.sections[(found.sections["kind"] == SectionKind.SCOPE) & found.sections["is_backward"]]
    mixes = [each for each in backward if log.scope_path(int(each["scope"])) == "mix"]

    assert len(mixes) == 4  # two calls in each of two steps
    for section in backward:
        first, last = spans[int(section["subject"])]
        for row in range(int(section["first"]), int(section["last"]) + 1):
            event = log.event(row)
            while event.kind == Kind.GRAD:
                event = log.event(event.forward)
            if event.kind == Kind.OP:
                assert first < event.row < last, (row, section)


@pytest.mark.slow
@pytest.mark.torch
def test_what_a_rule_runs_lies_in_the_module_of_the_rule(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    network = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.5)
    with gs.record(tmp_path / "ops.gscope", capture="ops"):
        network(torch.ones(2, 3, 8)).sum().backward()
    log = load(tmp_path / "ops.gscope")
    found = outline(log).stretch(0)

    events = [log.event(row) for row in range(log.first, log.end)]
    ran = [event for event in events if event.kind == Kind.OP and log.event(event.forward).kind == Kind.GRAD]
    assert any(path_of(log, found, event.row) == ("self_attn",) for event in ran)
    for event in ran:
        path, told = path_of(log, found, event.row), log.scope_path(log.event(event.forward).scope)
        assert told == (path[-1] if path else "") or told.startswith(f"{path[-1]}." if path else ""), event.row


# Steps ---------------------------------------------------------------------------------------------------------------


def train(path: Path, turns: int) -> tuple[Log, list[tuple[int, int]]]:
    """A training that looks at its network ahead of the loop, and at its loss at the end of each turn."""
    spans = []
    with gs.record(path):
        W = gs.randn(3, 3, requires_grad=True)
        x = gs.randn(4, 3)
        gs.mm(x, W).tanh().sum().item()
        optimizer = gs.optim.SGD([W], lr=0.01)
        for turn in range(turns):
            first = next_row()
            optimizer.zero_grad()
            h = gs.mm(x, W).tanh()
            loss = (h * h).sum()
            loss.backward()
            optimizer.step()
            if turn % 3 == 0:
                loss.item()
            spans.append((first, next_row() - 1))
    return load(path), spans


@pytest.mark.slow
def test_600_steps_are_the_turns_of_the_loop(tmp_path: Path) -> None:
    log, spans = train(tmp_path / "long.gscope", 600)
    found = steps(log)

    assert list(zip(found.first.tolist(), found.last.tolist(), strict=True)) == spans
    assert all(found.place(first) == found.place(last) == turn for turn, (first, last) in enumerate(spans))
    assert found.place(spans[0][0] - 1) is None, "what ran ahead of the loop is of no step"
    sections = sections_of(log, SectionKind.STEP)
    assert [section[0] for section in sections] == [first for first, _ in spans]
    told = [outline(log).step_at(first) for first, _ in spans]
    assert [each.tolist() for each in told if each is not None] == sections
    assert outline(log).step_at(spans[0][0] + 1) is None


def test_two_optimizers_in_a_turn_end_its_step_together(tmp_path: Path) -> None:
    with gs.record(tmp_path / "two.gscope"):
        a, b = gs.ones(3, requires_grad=True), gs.ones(3, requires_grad=True)
        first, second = gs.optim.SGD([a], lr=0.1), gs.optim.SGD([b], lr=0.1)
        expected = []
        for _ in range(3):
            begin = next_row()
            (a * 2.0).sum().backward()
            first.step()
            c = b * 3.0
            c.sum().backward()
            second.step()
            expected.append((begin, next_row() - 1))
    found = steps(load(tmp_path / "two.gscope"))

    assert list(zip(found.first.tolist(), found.last.tolist(), strict=True))[1:] == expected[1:]


def test_updates_by_hand_behind_the_pass_are_of_its_step(tmp_path: Path) -> None:
    spans = []
    with gs.record(tmp_path / "hand.gscope"):
        W = gs.ones(3, requires_grad=True)
        for _ in range(4):
            begin = next_row()
            loss = (W * W).sum()
            loss.backward()
            with gs.no_grad():
                W -= 0.1 * W.grad
            W.grad = None
            spans.append((begin, next_row() - 1))
    found = steps(load(tmp_path / "hand.gscope"))

    assert list(zip(found.first.tolist(), found.last.tolist(), strict=True)) == spans


# Whose rows they are -------------------------------------------------------------------------------------------------


@pytest.mark.torch
def test_making_optimizers_and_calls_hold_what_they_ran(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(4) * 0.5)
            layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
            self.encoder = torch.nn.TransformerEncoder(layer, 2)

        def forward(self, x: Any) -> Any:
            return self.encoder(x) * self.scale

    spans: dict[str, list[tuple[int, int]]] = {"making": [], "clip": [], "step": []}

    def watched(name: str, run: Any) -> Any:
        first = next_row()
        found = run()
        spans[name].append((first, next_row() - 1))
        return found

    with gs.record(tmp_path / "whose.gscope"):
        model = watched("making", Net)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.ones(2, 3, 4)).sum().backward()
            watched("clip", lambda: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0))
            watched("step", optimizer.step)
    log = load(tmp_path / "whose.gscope")

    def found(kind: SectionKind) -> list[tuple[int, int]]:
        return [(section[0], section[1]) for section in sections_of(log, kind)]

    assert found(SectionKind.MAKING) == spans["making"]
    assert found(SectionKind.LIBRARY) == spans["clip"]
    assert found(SectionKind.OPTIMIZER) == spans["step"]


# Any nest ------------------------------------------------------------------------------------------------------------

Nest = list[Any]
"""A nest of module calls: a number stands for so many ops, a pair for the call of a module and what runs in it."""


def nests() -> st.SearchStrategy[Nest]:
    leaves = st.integers(1, 3)
    return st.recursive(
        st.lists(leaves, max_size=3),
        lambda inner: st.lists(st.one_of(leaves, st.tuples(st.sampled_from("abc"), inner)), max_size=4),
        max_leaves=25,
    )


def write(path: Path, nest: Nest) -> list[tuple[str, int, int, int]]:
    """A log of such calls, and a backward pass over it; the calls come back: path, first and last row, depth."""
    writer = Writer(path)
    op = writer.intern("ops", "add", {"name": "add"})
    calls: list[tuple[str, int, int, int]] = []
    ran: list[tuple[int, int]] = []
    numbers: dict[str, int] = {"": 0}

    def scope(name: str, parent: str) -> int:
        whole = f"{parent}.{name}".lstrip(".")
        if whole not in numbers:
            numbers[whole] = writer.intern("scopes", whole, {"name": name, "type": "M", "parent": numbers[parent]})
        return numbers[whole]

    def run(part: Nest, where: str, depth: int) -> None:
        for each in part:
            if isinstance(each, int):
                for _ in range(each):
                    ran.append((writer.end, numbers[where]))
                    writer.append(writer.template(Kind.OP, op=op, scope=numbers[where]), None)
                continue
            name, inner = each
            number, whole = scope(name, where), f"{where}.{name}".lstrip(".")
            first = writer.end
            writer.append(writer.template(Kind.SCOPE_ENTER, scope=number), None)
            run(inner, whole, depth + 1)
            writer.append(writer.template(Kind.SCOPE_EXIT, scope=number), None)
            calls.append((whole, first, writer.end - 1, depth))

    run(nest, "", 0)
    writer.append(writer.template(Kind.BACKWARD_BEGIN, graph_pass=1), None)
    for row, number in reversed(ran):
        rule = writer.template(Kind.GRAD, op=op, scope=number, graph_pass=1)
        writer.append(rule, None, 0, 0, row)
    writer.append(writer.template(Kind.BACKWARD_END, graph_pass=1), None)
    writer.close()
    return calls


def in_pieces(log: Log, cuts: list[int]) -> Iterator[Stretch]:
    """The stretches between some rows, each going on from the one before."""
    told, carried = steps(log), Carried()
    calls = Calls(log, {})
    for start, stop in pairwise(sorted({log.first, log.end, *cuts})):
        made = stretch(log, told, start, stop, carried, calls)
        carried = made.carried
        yield made


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(nest=nests(), cuts=st.lists(st.integers(1, 60), max_size=4))
def test_any_nest_of_calls_in_any_pieces(tmp_path_factory: pytest.TempPathFactory, nest: Nest, cuts: list[int]) -> None:
    path = tmp_path_factory.mktemp("nest") / "nest.gscope"
    calls = write(path, nest)
    log = load(path)
    inside = [cut for cut in cuts if cut < log.end]
    pieces = list(in_pieces(log, inside))
    found = np.concatenate([piece.sections for piece in pieces])
    forward = found[(found["kind"] == SectionKind.SCOPE) & ~found["is_backward"]]
    begun = forward[~forward["goes_on"]]

    assert sorted((log.scope_path(int(each["scope"])), int(each["first"])) for each in begun) == sorted(
        (name, first) for name, first, _, _ in calls
    )
    spans = {first: (last, depth) for _, first, last, depth in calls}
    ends: dict[int, int] = {}
    for each in forward:
        ends[int(each["first"])] = int(each["last"])
        assert int(each["level"]) == spans[int(each["first"])][1]
    assert ends == {first: last for first, (last, _) in spans.items()}
    for piece in pieces:
        for row in range(piece.start, piece.stop):
            event = log.event(row)
            at = event.forward if event.kind == Kind.GRAD else row
            around = sorted(first for first, (last, _) in spans.items() if first <= at <= last)
            sections = [piece.sections[place] for place in piece.within(row)]
            held = [int(each["subject"]) for each in sections if each["kind"] == SectionKind.SCOPE]
            if event.kind == Kind.GRAD:  # a call of which one rule ran has no header
                assert held == around[: len(held)], row
            elif event.kind in (Kind.OP, Kind.SCOPE_ENTER, Kind.SCOPE_EXIT):
                assert held == around, row


def test_stretches_are_kept_and_begin_anew_with_a_longer_log(tmp_path: Path) -> None:
    log, _ = train(tmp_path / "kept.gscope", 40)
    made = Outline(log)

    assert made.stretch(0) is made.stretch(0)
    assert made.of_row(log.end - 1) is made.stretch(0)
