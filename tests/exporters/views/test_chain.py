"""The chain rule along paths: derivatives, products and sums are those of autograd."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.errors import ExportError
from graphscope.eventlog.reader import Log
from graphscope.exporters import export
from graphscope.graph.chain_rule import Chain, chain, ways_to
from graphscope.graph.graph import Graph
from graphscope.graph.pullback import local_derivative


def found(log: Log, start: str, end: str) -> Chain:
    """The chain between two nodes that a program has named."""
    graph = Graph(log)
    (first, *_), (*_, last) = graph.select(f"name:{start} forward"), graph.select(f"name:{end} forward")
    return chain(graph, first, ways_to(graph, last))


def shares(of: Chain) -> list[np.ndarray]:
    """What each path adds."""
    told = [of.share(path) for path in of.paths()]
    assert all(each is not None for each in told)
    return [each for each in told if each is not None]


def two_ways() -> None:
    """x leads to z by two paths, y to a part of one."""
    x = gs.tensor(2.0, dtype=gs.float64, requires_grad=True)
    y = x * 3
    z = gs.tanh(y) + x * x
    z.backward()


@pytest.mark.slow
def test_numbers_are_those_of_the_derivatives(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    of = found(recorded(two_ways), "x", "z")
    slope = 1 - np.tanh(6.0) ** 2
    assert of.count == 3
    told = [float(local_derivative(link.op, link.operand)) for link in of.links]  # type: ignore[arg-type]
    assert sorted(told) == pytest.approx(sorted([3.0, slope, 2.0, 2.0, 1.0, 1.0]))
    assert [float(each) for each in shares(of)] == pytest.approx([3 * slope, 2.0, 2.0])
    assert sum(shares(of)) == pytest.approx(of.start.grad)


def test_the_picture_tells_each_product_and_the_sum(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    log = recorded(two_ways)
    written = str(export(log, format="dot", view="chain", select="name:x"))
    assert "∂z/∂x = 4, the sum over 3 paths" in written
    assert "path 2: 2 · 1 = 2" in written
    assert "× 3" in written
    one = str(export(log, format="dot", view="chain", select="name:x", to="name:y"))
    assert "∂y/∂x = 3, along one path" in one


def test_paths_that_meet_tensors_sum_up_to_the_gradient(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    def program() -> None:
        w = gs.tensor(np.arange(6.0).reshape(2, 3) / 5 - 0.4, dtype=gs.float64, requires_grad=True)
        x = gs.tensor(np.ones((4, 2)), dtype=gs.float64)
        h = gs.sigmoid(x @ w)
        loss = (h * h + h.mean(0)).sum()
        loss.backward()

    of = found(recorded(program), "w", "loss")
    assert of.count == 3
    assert np.allclose(sum(shares(of)), of.start.grad)


def test_what_passes_before_have_added_does_not_count(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    def program() -> None:
        x = gs.tensor(2.0, requires_grad=True)
        for factor in (10.0, 3.0):
            loss = x * factor
            loss.backward()
        assert float(x.grad) == 13

    written = str(export(recorded(program), format="dot", view="chain", step="all"))
    assert "∂loss/∂x = 3, along one path" in written


def test_ways_to_another_node_are_those_alone(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    def program() -> None:
        w = gs.tensor([[0.5, -1.0]], dtype=gs.float64, requires_grad=True)
        h = gs.tanh(w * 2)
        loss = (h * h + w).sum()
        loss.backward()

    of = found(recorded(program), "w", "h")
    hidden = np.tanh(np.array([[1.0, -2.0]]))
    (share,) = shares(of)
    assert np.allclose(share, 2 * hidden * 2 * (1 - hidden**2))
    assert np.allclose(of.gradients()[of.start.row], share)
    assert not np.allclose(of.start.grad, share)


def test_what_gradients_do_not_reach_is_refused(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    def program() -> None:
        x, y = gs.tensor(2.0, requires_grad=True), gs.tensor(3.0)
        z = x * y
        z.backward()

    log = recorded(program)
    with pytest.raises(ExportError, match="no gradient flows from '#1' to z"):
        export(log, format="svg", view="chain", select="#1")
    with pytest.raises(ExportError, match="no forward node is 'name:w'"):
        export(log, format="svg", view="chain", to="name:w")


def test_a_log_of_one_row_has_no_chain(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    with pytest.raises(ExportError, match="no backward pass began there"):
        export(recorded(lambda: gs.tensor(2.0) * 1), format="svg", view="chain")


def test_long_chains_are_refused(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    def program() -> None:
        x = gs.tensor(2.0, requires_grad=True)
        h = x
        for _ in range(70):
            h = h.sin()
        h.backward()

    log = recorded(program)
    with pytest.raises(ExportError, match="71 nodes lie on the paths from x to h"):
        export(log, format="svg", view="chain")
    assert "sin" in str(export(log, format="dot", view="chain", select="#30"))


def test_without_values_rules_stand_on_the_arrows(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope", values="none") as log:
        two_ways()
    written = str(export(log, format="dot", view="chain", select="name:x"))
    assert "the sum over 3 paths" in written
    assert "g * 3" in written


@pytest.mark.torch
def test_shares_and_derivatives_are_those_of_torch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    first, second = torch.nn.Linear(3, 4).double(), torch.nn.Linear(4, 4).double()
    x, wanted = torch.randn(5, 3, dtype=torch.float64), torch.tensor([0, 1, 3, 2, 1])

    def program() -> Any:
        h = torch.tanh(first(x))
        out = h + second(h).relu() * h.mean(1, keepdim=True)
        loss = torch.nn.functional.cross_entropy(out, wanted) / 2
        return h, out, loss

    with gs.record(tmp_path / "run.gscope", values="full") as log:
        h, out, loss = program()
        loss.backward()
    of = found(log, "h", "loss")
    assert of.count == 3
    h, out, loss = program()
    (whole,) = torch.autograd.grad(loss, h, retain_graph=True)
    (arriving,) = torch.autograd.grad(loss, out, retain_graph=True)
    hidden = h.detach().requires_grad_()
    parts = [hidden, second(hidden).relu() * h.mean(1, keepdim=True).detach(),
             second(h).relu().detach() * hidden.mean(1, keepdim=True)]  # fmt: skip
    alone = [torch.autograd.grad(part, hidden, arriving)[0].numpy() for part in parts]
    told = shares(of)
    assert np.allclose(sum(told), whole.numpy())
    for share in told:
        assert any(np.allclose(share, each) for each in alone)
    ending = next(link for link in of.links if link.op.op == "cross_entropy")
    derivative = local_derivative(ending.op, ending.operand)
    assert derivative is not None
    assert np.allclose(derivative, 2 * arriving.numpy())
    weight = next(node for node in Graph(log).nodes if node.kind == "leaf" and node.shape == (4, 3))
    graph = Graph(log)
    to = graph.select("name:loss forward")[-1]
    all_ways = chain(graph, weight, ways_to(graph, to))
    assert np.allclose(sum(shares(all_ways)), first.weight.grad.numpy())
