"""A network drawn as neurons, with the numbers that the program had."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import graphscope as gs
from graphscope.errors import ExportError
from graphscope.eventlog.reader import Log
from graphscope.exporters import export
from graphscope.exporters.views.neuron_drawing import short

SVG = "{http://www.w3.org/2000/svg}"
X = np.array([[0.5, -1.0], [2.0, 0.25], [-0.75, 1.5]])
W1 = np.array([[0.4, -0.9, 0.1], [1.2, 0.3, -0.6]])
B1 = np.array([0.1, -0.2, 0.3])
W2 = np.array([[0.7], [-1.1], [0.5]])


def titles(picture: str) -> list[str]:
    """What a pointer over each part shows."""
    return [each.text or "" for each in ElementTree.fromstring(picture).iter(f"{SVG}title")]


def told(picture: str, of: str) -> list[list[float]]:
    """The numbers of each neuron whose title begins so."""
    number = r"-?[\d.]+(?:e[+-]\d+)?"
    return [
        [float(each) for each in re.findall(rf"(?:activation|by it) ({number})", title)]
        for title in titles(picture)
        if title.startswith(f"{of}, neuron")
    ]


def by_hand(hidden: np.ndarray | None = None) -> Any:
    """The loss, from the hidden layer where one is given."""
    h = np.tanh(X @ W1 + B1) if hidden is None else hidden
    return np.mean((1 / (1 + np.exp(-(h @ W2)))) ** 3)


def small_net() -> None:
    """Two layers of our own engine."""
    w1 = gs.tensor(W1, dtype=gs.float64, requires_grad=True)
    b1 = gs.tensor(B1, dtype=gs.float64, requires_grad=True)
    w2 = gs.tensor(W2, dtype=gs.float64, requires_grad=True)
    h = gs.tanh(gs.tensor(X, dtype=gs.float64) @ w1 + b1)
    (gs.sigmoid(h @ w2) ** 3).mean().backward()


def test_activations_and_gradients_are_those_of_the_program(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    picture = str(export(recorded(small_net), format="svg", view="neurons", sample=1))
    hidden = np.tanh(X @ W1 + B1)
    slopes = []
    for place in range(3):
        step = np.zeros_like(hidden)
        step[1, place] = 1e-6
        slopes.append((by_hand(hidden + step) - by_hand(hidden - step)) / 2e-6)
    assert np.allclose(told(picture, "w1"), np.stack([hidden[1], slopes], axis=1), rtol=1e-4)
    assert np.allclose([each[0] for each in told(picture, "input")], X[1])


def test_each_weight_is_a_line_with_its_gradient(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    found = {}
    for title in titles(str(export(recorded(small_net), format="svg", view="neurons"))):
        if match := re.fullmatch(r"(w\d)\[(\d), (\d)\] = (\S+)\n∂loss/∂ = (\S+)", title):
            found[match[1], int(match[3]), int(match[2])] = float(match[4]), float(match[5])
    assert {place[1:]: value for place, (value, _) in found.items() if place[0] == "w1"} == {
        (one, other): W1[one, other] for one in range(2) for other in range(3)
    }
    step = np.zeros_like(W1)
    step[1, 2] = 1e-6
    up, down = (by_hand(np.tanh(X @ (W1 + sign * step) + B1)) for sign in (1, -1))
    assert found["w1", 1, 2][1] == pytest.approx((up - down) / 2e-6, rel=1e-3)


def test_wide_layers_are_drawn_in_part(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    def program() -> None:
        w = gs.ones(40, 30, requires_grad=True)
        (gs.ones(2, 40) @ w).sum().backward()

    picture = str(export(recorded(program), format="svg", view="neurons"))
    assert "40 neurons, 11 drawn" in picture
    assert len(told(picture, "w")) == 11


def test_columns_are_samples_where_a_weight_stands_ahead(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    def program() -> None:
        w = gs.tensor(W1, dtype=gs.float64, requires_grad=True)
        (w @ gs.tensor(X, dtype=gs.float64)).sum().backward()

    picture = str(export(recorded(program), format="svg", view="neurons", sample=1))
    assert np.allclose([each[0] for each in told(picture, "w")], (W1 @ X)[:, 1])


def test_what_is_no_network_is_refused(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    log = recorded(lambda: gs.tensor(3.0, requires_grad=True).exp().backward())
    with pytest.raises(ExportError, match="no dense layer is among what was chosen"):
        export(log, format="svg", view="neurons")
    with pytest.raises(ExportError, match="needs a recording"):
        export(gs.tensor(1.0, requires_grad=True) * 2, format="svg", view="neurons")


def test_a_deep_network_and_a_missing_sample_are_refused(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    def program() -> None:
        w = gs.ones(2, 2, requires_grad=True)
        h = gs.ones(1, 2)
        for _ in range(13):
            h = h @ w
        h.sum().backward()

    log = recorded(program)
    with pytest.raises(ExportError, match="13 dense layers are too many"):
        export(log, format="svg", view="neurons")
    with pytest.raises(ExportError, match="there is no sample 4: the batch has 1"):
        export(log, format="svg", view="neurons", select="#2", sample=4)


def test_without_values_the_shape_of_the_network_is_drawn(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope", values="none") as log:
        small_net()
    picture = str(export(log, format="svg", view="neurons"))
    assert "No values were kept" in picture
    assert picture.count("<circle") == 2 + 3 + 1
    assert picture.count("<line") == 2 * 3 + 3 + 1


def test_another_format_is_refused(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    with pytest.raises(ExportError, match=r"neurons is a picture, and is not written as \.png"):
        export(recorded(small_net), format="png", view="neurons")
    with pytest.raises(ExportError, match="view neurons takes no fold"):
        export(recorded(small_net), format="svg", view="neurons", fold="none")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (-0.0, "0"), (-1.5, "-1.50"), (0.01234, "0.012"), (-123.4, "-123"), (2e-5, "2e-5"), (np.nan, "nan")],
)  # fmt: skip
def test_numbers_fit_into_a_circle(value: float, text: str) -> None:
    assert short(value) == text


@pytest.mark.torch
def test_numbers_are_those_of_torch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    x, wanted = torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1])
    with gs.record(tmp_path / "run.gscope", values="full") as log:
        torch.nn.functional.cross_entropy(net(x), wanted).backward()
    picture = str(export(log, format="svg", view="neurons", sample=3))
    hidden = net[:2](x)
    out = net[2](hidden)
    hidden.retain_grad()
    out.retain_grad()
    loss = torch.nn.functional.cross_entropy(out, wanted)
    loss.backward()
    for name, values in (("0", hidden), ("2", out)):
        expected = torch.stack([values[3], values.grad[3]], dim=1).detach().numpy()
        assert np.allclose(told(picture, name), expected, rtol=1e-4, atol=1e-7)
    assert f"{loss.item():.4g}" in picture
