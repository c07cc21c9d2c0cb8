"""The table of views, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphscope as gs
from graphscope.errors import ExportError
from graphscope.exporters import VIEWS, export
from graphscope.graph.view import GraphView


@pytest.mark.parametrize("entry", VIEWS.values(), ids=lambda entry: entry.name)
def test_every_view_and_option_is_explained(entry) -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "pictures.md").read_text()
    assert entry.doc.endswith(".")
    assert all(option.doc.endswith(".") for option in entry.options)
    assert entry.name == "ops" or f"--view {entry.name} " in page


def test_options_of_views_are_not_those_of_exporters() -> None:
    from graphscope.exporters import EXPORTERS

    of_views = {option.name for entry in VIEWS.values() for option in entry.options}
    assert of_views.isdisjoint(option.name for entry in EXPORTERS.values() for option in entry.options)


def test_ops_are_what_is_drawn_where_nothing_is_said(product: GraphView) -> None:
    assert export(product, format="svg") == export(product, format="svg", view="ops")


def test_an_unknown_view_is_refused_with_the_one_meant(product: GraphView) -> None:
    with pytest.raises(ExportError, match="no view 'tensor'") as refused:
        export(product, format="svg", view="tensor")
    assert "did you mean tensors?" in str(refused.value.hint)


def test_a_view_is_no_data(product: GraphView) -> None:
    with pytest.raises(ExportError, match=r"tensors is a picture, and is not written as \.json"):
        export(product, format="json", view="tensors")


def test_options_of_nobody_are_refused(product: GraphView) -> None:
    for wanted in ("svg", "html"):
        with pytest.raises(ExportError, match="has no option 'heat'"):
            export(product, format=wanted, view="tensors", heat=1)


def test_a_log_of_one_row_is_drawn_or_refused_in_words(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope") as log:
        gs.tensor(1.0, requires_grad=True).clone()
    assert "clone" in str(export(log, format="dot", view="tensors"))
    for view in ("neurons", "chain"):
        with pytest.raises(ExportError, match=r"no dense layer|no backward pass"):
            export(log, format="svg", view=view)


def test_steps_are_chosen_as_for_every_picture(tmp_path: Path) -> None:
    w = gs.tensor([[1.0], [2.0]], requires_grad=True)
    optimizer = gs.optim.SGD([w], lr=0.5)
    weights = []
    with gs.record(tmp_path / "run.gscope") as log:
        for _ in range(3):
            weights.append(float(w[0, 0]))
            optimizer.zero_grad()
            (gs.ones(4, 2) @ w).sum().backward()
            optimizer.step()
    assert len(set(weights)) == 3
    assert "step 2, one of 3" in str(export(log, format="svg", view="neurons"))
    for step, weight in enumerate(weights):
        assert f"[0, 0] = {weight:.4g}" in str(export(log, format="svg", view="neurons", step=step))
        assert f"step {step}, one of 3" in str(export(log, format="dot", view="chain", step=step))


def test_a_tensor_has_a_dual_drawing_without_a_recording() -> None:
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    assert "mul" in str(export((x * x).sum(), format="dot", view="tensors"))
