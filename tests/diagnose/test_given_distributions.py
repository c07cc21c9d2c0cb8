"""Losses that apply softmax and are given probabilities that no softmax right ahead of them makes."""

from __future__ import annotations

import runpy
import textwrap
from pathlib import Path
from typing import Literal

import pytest

import graphscope as gs

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

PROGRAM = """
    import torch
    import torch.nn.functional as F
    from torch import nn

    torch.manual_seed(0)
    heads = nn.ModuleList(nn.Linear(8, 5) for _ in range(3))
    mix = nn.Parameter(torch.zeros(3))
    sgd = torch.optim.SGD([*heads.parameters(), mix], lr=0.1)
    sums = []
    for step in range({steps}):
        x, y = torch.randn(32, 8), torch.randint(0, 5, (32,))
        shares = torch.stack([F.softmax(head(x), dim=1) for head in heads])
        mixture = torch.einsum("h,hnc->nc", mix.softmax(0), shares)  # made
        scores = heads[0](x)
        given = {given}
        sums.append(given.detach().double().sum(1))
        loss = {loss}  # lost
        sgd.zero_grad()
        loss.backward()
        sgd.step()
    """

CROSS_ENTROPY = "F.cross_entropy(given, y)"


def run(
    folder: Path,
    given: str,
    loss: str = CROSS_ENTROPY,
    steps: int = 4,
    values: Literal["full", "summary", "none"] = "full",
) -> tuple[list[tuple[str, int, str]], bool, list[str]]:
    """What the doctor says of softmax, whether rows did add up to 1, and the lines of the program."""
    text = textwrap.dedent(PROGRAM).format(given=given, loss=loss, steps=steps).strip() + "\n"
    path = folder / "main.py"
    path.write_text(text)
    with gs.record(folder / "run.gscope", values=values):
        sums = runpy.run_path(str(path), run_name="__main__")["sums"]
    found = [each for each in gs.doctor(folder / "run.gscope").findings if each.kind == "double_softmax"]
    is_one = all(bool(((each - 1).abs() < 1e-5).all()) for each in sums)
    return [(each.cause, each.line, each.verdict) for each in found], is_one, text.splitlines()


def line_of(lines: list[str], what: str) -> int:
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {what}"))


@pytest.mark.parametrize("values", ["full", "summary"])
@pytest.mark.parametrize(
    "loss",
    [
        CROSS_ENTROPY,
        "F.nll_loss(F.log_softmax(given, dim=1), y)",
        "F.cross_entropy(given.t()[None], y[None])",
    ],
    ids=["cross_entropy", "log_softmax", "classes along axis 1"],
)
def test_a_mixture_of_softmaxes_is_told_at_the_loss_with_what_made_it(
    loss: str, values: Literal["full", "summary"], tmp_path: Path
) -> None:
    ((cause, line, verdict),), is_one, lines = run(tmp_path, "mixture", loss, values=values)
    assert is_one
    assert (cause, line) == ("given probabilities", line_of(lines, "lost"))
    assert f"einsum at main.py:{line_of(lines, 'made')} makes probabilities" in verdict


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_what_adds_up_to_1_is_as_exact_as_its_dtype(dtype: str, tmp_path: Path) -> None:
    found, _, _ = run(tmp_path, f"mixture.to(torch.{dtype})", "F.cross_entropy(given, y).float()")
    assert [cause for cause, _, _ in found] == ["given probabilities"]


def test_a_softmax_right_ahead_is_told_once_and_as_that(tmp_path: Path) -> None:
    found, is_one, _ = run(tmp_path, "scores.softmax(1)", steps=6)
    assert is_one
    assert [cause for cause, _, _ in found] == ["softmax twice"]


@pytest.mark.parametrize("values", ["full", "summary"])
@pytest.mark.parametrize(
    ("given", "loss"),
    [
        ("scores", CROSS_ENTROPY),
        ("scores.abs() / 5", CROSS_ENTROPY),
        ("mixture.log()", CROSS_ENTROPY),
        ("mixture", "F.nll_loss(given.log(), y)"),
        ("mixture", "F.cross_entropy(scores, given.detach())"),
        ("mixture", "F.cross_entropy(scores, given)"),
        ("mixture.detach()", "F.cross_entropy(scores, y) + F.cross_entropy(given, y)"),
        ("mixture * 10", CROSS_ENTROPY),
        ("F.one_hot(y, 5).float() + 0 * scores", CROSS_ENTROPY),
        ("mixture if step else scores", CROSS_ENTROPY),
    ],
    ids=["scores", "positive", "logarithm", "taken later", "target", "trained target", "detached", "scaled", "one-hot",
         "once not"],
)  # fmt: skip
def test_what_is_no_distribution_or_no_score_is_not_told(
    given: str, loss: str, values: Literal["full", "summary"], tmp_path: Path
) -> None:
    found, _, _ = run(tmp_path, given, loss, values=values)
    assert found == []


def test_two_steps_are_too_few_to_tell(tmp_path: Path) -> None:
    found, is_one, _ = run(tmp_path, "mixture", steps=2)
    assert is_one
    assert found == []
