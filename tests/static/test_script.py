"""Scripted functions: control flow as nodes, whichever way the numbers go; errors that show the line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope import jit
from graphscope.errors import StaticError
from graphscope.static.graphs.graph import Graph

W_h = gs.tensor(np.random.default_rng(0).standard_normal((4, 4)) * 0.5, requires_grad=True)
W_x = gs.tensor(np.random.default_rng(1).standard_normal((4, 3)), requires_grad=True)


def cell(h: Any, x: Any) -> Any:
    return (W_h @ h + W_x @ x).tanh()


def network(xs: Any, h: Any) -> Any:
    for x in xs:
        h = cell(h, x)
    return h.sum(), h


def collatz(n: Any) -> Any:
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def left_early(x: Any, limit: Any) -> Any:
    total = x * 0
    for i in range(10):
        if i == 7:
            break
        if i % 2 == 0:
            continue
        total = total + x * i
        if total.sum() > limit:
            return total, i
    return -total, 0


def nested(x: Any, n: Any) -> Any:
    i = 0
    while i < n:
        j = 0
        while j < i:
            if (x.sum() > 1.0) and (j != 2):
                x = x * 0.5
            elif x.sum() < -1:
                x = x + 0.25
            else:
                x = x + 0.1 if j == 0 else x * 1.5
            j += 1
        i += 1
    return x


def forever(x: Any) -> Any:
    while True:
        x = x * 2
        if x.sum() > 100:
            break
    return x


def lists(x: Any) -> Any:
    ys = []
    for k in range(3):
        ys.append(x * k)  # noqa: PERF401
    a, b, c = ys
    if x.sum() > 0:
        z, w = a + b, 1
    else:
        z, w = c, 2
    return gs.stack(ys).sum(), z * w


def truths(x: Any, y: Any) -> Any:
    if not (x > 0).all() or y.sum() == 0:
        return x - y
    return x + y


scripted_cell = jit.script(cell)


@pytest.mark.parametrize("length", [1, 3, 7])
def test_a_loop_as_long_as_its_input(length: int) -> None:
    scripted = jit.script(network)
    graphs = []
    for count in (length, length + 2):
        xs, h = gs.tensor(np.random.default_rng(2).standard_normal((count, 3))), gs.zeros(4, dtype=gs.float64)
        found, wanted = [], []
        for call, kept in ((scripted, found), (network, wanted)):
            total, last = call(xs, h)
            W_h.grad = None
            total.backward()
            kept += [last.array, W_h.grad.array]
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
        graphs.append(scripted.graph_for(xs, h))
    assert graphs[0] is graphs[1]
    assert [node.op for node in graphs[0].nodes if node.bodies] == ["while"]


@pytest.mark.parametrize("n", [1, 2, 7, 27])
def test_while_and_if(n: int) -> None:
    assert jit.script(collatz)(gs.tensor(n)).item() == collatz(n)


@pytest.mark.parametrize("limit", [0.5, 5.0, 1e3])
def test_break_continue_and_early_return(limit: float) -> None:
    found = jit.script(left_early)(gs.ones(2), gs.tensor(limit))
    total, turn = left_early(gs.ones(2), limit)
    assert (found[0].tolist(), found[1].item()) == (total.tolist(), turn)


@pytest.mark.parametrize("start", [[0.1, 0.2], [3.0, 1.0], [-4.0, 0.5]])
def test_nests_of_cond_in_while_run_and_differentiate(start: list[float]) -> None:
    found, wanted = [], []
    for call, kept in ((jit.script(nested), found), (nested, wanted)):
        x = gs.tensor(start, requires_grad=True)
        out = call(x, gs.tensor(6))
        out.sum().backward()
        kept += [out.tolist(), x.grad.tolist()]
    np.testing.assert_allclose(np.array(found), np.array(wanted), rtol=1e-5)


def test_a_loop_that_only_break_ends() -> None:
    assert jit.script(forever)(gs.ones(2)).tolist() == forever(gs.ones(2)).tolist()


@pytest.mark.parametrize("sign", [1, -1])
def test_lists_and_tuples(sign: int) -> None:
    x = gs.tensor([1.0, 2.0]) * sign
    for one, other in zip(jit.script(lists)(x), lists(x), strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize(("x", "y"), [([1.0], [0.0]), ([1.0], [2.0]), ([-1.0], [2.0])])
def test_and_or_not(x: list[float], y: list[float]) -> None:
    assert jit.script(truths)(gs.tensor(x), gs.tensor(y)).tolist() == truths(gs.tensor(x), gs.tensor(y)).tolist()


def test_calls_of_scripted_functions_are_part_of_the_graph() -> None:
    @jit.script
    def twice(h: Any, x: Any) -> Any:
        return scripted_cell(scripted_cell(h, x), x)

    h, x = gs.zeros(4, dtype=gs.float64), gs.ones(3, dtype=gs.float64)
    np.testing.assert_array_equal(twice(h, x).array, cell(cell(h, x), x).array)
    assert {node.scope for node in twice.graph.nodes if node.op == "tanh"} == {"cell"}


def test_nodes_stand_at_their_lines() -> None:
    scripted = jit.script(collatz)
    scripted(gs.tensor(6))

    def sites(graph: Graph) -> dict[str, int]:
        found = {node.op: node.site.line for node in graph.nodes if node.site is not None}
        for node in graph.nodes:
            for body in node.bodies:
                found |= sites(body)
        return found

    first = collatz.__code__.co_firstlineno
    lines = sites(scripted.graph)
    assert (lines["while"], lines["cond"], lines["ne"]) == (first + 2, first + 3, first + 2)


@pytest.mark.slow
def test_ten_thousand_turns() -> None:
    @jit.script
    def long(x: Any, n: Any) -> Any:
        i = 0
        while i < n:
            x = x * 0.999
            i += 1
        return x

    x = gs.ones(1, requires_grad=True)
    long(x, gs.tensor(10_000)).sum().backward()
    np.testing.assert_allclose(x.grad.array, 0.999**10_000, rtol=1e-3)


def speaking(x: Any) -> Any:
    assert x.sum() > 0
    while x.sum() < 10:
        x = x * 2
        print("now", x, 3)
    return x


def test_prints_and_assertions_run_with_the_graph(capsys: pytest.CaptureFixture[str]) -> None:
    scripted = jit.script(speaking)
    scripted(gs.tensor([1.0, 2.0]))
    found = capsys.readouterr().out
    speaking(gs.tensor([1.0, 2.0]))
    assert found == capsys.readouterr().out != ""
    with pytest.raises(StaticError, match=r"assert node .*test_script\.py:\d+\) does not hold"):
        scripted(gs.tensor([-1.0, 0.0]))


def tries(x: Any) -> Any:
    try:
        return x
    except ValueError:
        return x + 1


def half_defined(x: Any) -> Any:
    if x.sum() > 0:
        y = x
    return y


def changes_type(x: Any) -> Any:
    h = 0
    for _ in range(10):
        h = h + x
    return h


def other_library(x: Any) -> Any:
    return np.tanh(x)


def never_ends(x: Any) -> Any:
    while True:
        x = x + 1
    return x


def written(x: Any) -> Any:
    x[0] = 1
    return x


ERRORS = [
    (tries, 1, "try can't be scripted", "let the op raise"),
    (half_defined, 3, "'y' is set on one way of the if", "give it a value before"),
    (changes_type, 2, r"'h' is int64\[\] before a turn and float32\[2\] after it", "before the loop"),
    (other_library, 1, "np.tanh is not scripted", "call ops"),
    (never_ends, 1, "this loop never ends", "break"),
    (written, 1, "can't be written", "where or cat"),
]


@pytest.mark.parametrize(
    ("function", "line", "message", "cure"), ERRORS, ids=lambda part: getattr(part, "__name__", "")
)
def test_what_is_outside_of_the_subset_is_shown(function: Any, line: int, message: str, cure: str) -> None:
    with pytest.raises(jit.ScriptError, match=message) as caught:
        jit.script(function)(gs.ones(2))
    text = str(caught.value)
    assert f"{__file__}:{function.__code__.co_firstlineno + line}: " in text
    assert "^" in text
    assert cure in text


def picked(x: gs.Tensor) -> tuple[gs.Tensor, ...]:
    some = x[x > 0]
    halves = (some * 2).chunk(2, -1)
    first = x.index_select(-1, gs.tensor([0]))
    return some, halves[0], first[first > 0]


def lengthened(x: gs.Tensor) -> gs.Tensor:
    some = x[x > 0]
    return some + gs.ones(*some.shape)


def test_how_many_a_mask_picks_is_known_when_it_runs() -> None:
    scripted = jit.script(picked)
    for numbers in ([1.0, 2.0, 3.0, -1.0], [1.0, -2.0, 3.0, 5.0], [-1.0, -2.0, 3.0, 4.0]):
        x = gs.tensor(numbers)
        for found, wanted in zip(scripted(x), picked(x), strict=True):
            assert found.tolist() == wanted.tolist()
    with pytest.raises(StaticError, match=r"chunk' \(.*test_script.py:\d+\) gave 1 parts, and 2 when"):
        scripted(gs.tensor([1.0, -1.0, -1.0, -1.0]))
    assert len(scripted.graphs) == 1
    assert scripted.graph.outputs[0].shape == (None,)
    with pytest.raises(StaticError, match=r"ones\(.*\n.*\n.*x \* 0") as failed:
        jit.script(lengthened)(gs.ones(2))
    assert "a size that this takes is not known before the graph runs" in str(failed.value)


def test_counters_go_by_the_rules_of_integers() -> None:
    def counting(n: gs.Tensor) -> gs.Tensor:
        total = 0
        i = 0
        while i < n:
            i = i + 1
            if i != 3:
                total = total + i
            total = total - 2
        return total

    scripted = jit.script(counting)
    for number in (5, 0, 7, 5):
        found = scripted(gs.tensor(number))
        assert (found.dtype, found.item()) == (gs.int64, counting(gs.tensor(number)) if number else 0)
