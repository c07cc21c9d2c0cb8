"""The kit, by the adapter for HIPS autograd that its page writes: what is recorded is what autograd computes."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import graphscope as gs
from graphscope.adapters import ADAPTERS
from tests.docs.pages import ROOT, blocks

autograd = pytest.importorskip("autograd")
import autograd.numpy as anp  # noqa: E402

NAME = "graphscope_autograd"
X = np.array([[1.0, 2.0], [3.0, 4.0], [-1.0, 0.5]])


@pytest.fixture
def adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The adapter of the page, in the table."""
    (block,) = (each for each in blocks(ROOT / "docs" / "how-to" / "adapters.md") if each.file == f"{NAME}.py")
    (tmp_path / f"{NAME}.py").write_text(block.text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(NAME, tmp_path / f"{NAME}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, NAME, module)
    spec.loader.exec_module(module)
    monkeypatch.setitem(ADAPTERS, "autograd", NAME)
    yield module
    assert autograd.core.VJPNode.__name__ == "VJPNode"
    assert autograd.core.backward_pass.__module__ == autograd.tracer.new_box.__module__.replace("tracer", "core")


def loss(w):
    h = anp.tanh(1.0 - anp.dot(X, w) * 2)
    return anp.sum(h * h) + anp.sum(h[0] / 3)


def test_the_page_is_as_short_as_it_says(adapter: ModuleType) -> None:
    assert len(Path(adapter.__file__).read_text(encoding="utf-8").splitlines()) <= 150


def test_values_and_cotangents_are_those_of_autograd(adapter: ModuleType) -> None:
    w = np.array([0.1, 0.2])
    bare = autograd.grad(loss)(w)
    with gs.record() as log:
        recorded = autograd.grad(loss)(w)
        np.testing.assert_array_equal(recorded, bare)
        graph = log.graph
        (tanh,) = graph.select("op:tanh forward")
        np.testing.assert_array_equal(tanh.value, np.tanh(1.0 - X @ w * 2))
        (rule,) = graph.select("op:tanh backward")
        h = np.tanh(1.0 - X @ w * 2)
        expected = 2 * h
        expected[0] += 1 / 3
        np.testing.assert_allclose(rule.grad, expected, rtol=1e-12)
        (leaf,) = (node for node in graph.select("name:w forward") if node.kind == "leaf")
        np.testing.assert_allclose(leaf.grad, bare, rtol=1e-12)
        assert {Path(node.site.file).name for node in graph.select("forward")} == {Path(__file__).name}


def test_a_derivative_of_a_derivative_is_recorded_and_right(adapter: ModuleType) -> None:
    second = autograd.grad(lambda x: autograd.grad(lambda y: anp.sin(y) * y**3)(x))
    bare = second(0.7)
    with gs.record() as log:
        assert second(0.7) == bare
        kinds = {node.op for node in log.graph.select("backward")}
    assert {"sin", "multiply"} <= kinds
    assert bare == pytest.approx(np.cos(0.7) * 6 * 0.7**2 + np.sin(0.7) * (6 * 0.7 - 0.7**3))


def test_constants_lie_where_they_stood(adapter: ModuleType) -> None:
    with gs.record() as log:
        for rate in (0.5, 0.25):
            autograd.grad(lambda w, rate=rate: anp.sum(rate - w))(np.ones(2))
        found = [node.operands for node in log.graph.select("op:subtract forward")]
    assert [each[0].constant for each in found] == [0.5, 0.25]


def test_the_value_of_a_function_is_not_called_as_its_argument(adapter: ModuleType) -> None:
    w = np.ones(2)
    with gs.record() as log:
        w = w - autograd.grad(lambda x: anp.sum(x * x))(w)
        assert [(node.op, node.name) for node in log.graph.select("op:sum forward")] == [("sum", "")]
        (leaf,) = log.graph.select("name:w forward")
    assert leaf.kind == "leaf"
