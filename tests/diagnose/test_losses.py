"""Checks of losses and data on programs of several files: what is found is at the line that is to be changed."""

from __future__ import annotations

import runpy
import sys
import textwrap
from pathlib import Path
from typing import Literal

import pytest

import graphscope as gs
from graphscope.diagnose import every

pytestmark = pytest.mark.torch
pytest.importorskip("torch")


def found(folder: Path, values: Literal["full", "summary", "none"] = "full", **files: str) -> list[tuple[str, str]]:
    """What all checks find in a program of several files, each with its line; `main` is the one that runs."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text).strip() + "\n")
    with pytest.MonkeyPatch.context() as patches:
        patches.syspath_prepend(folder)
        for name in files:
            patches.delitem(sys.modules, name, raising=False)
        with gs.record(folder / "run.gscope", values=values):
            runpy.run_path(str(folder / "main.py"), run_name="__main__")
        for name in files:
            sys.modules.pop(name, None)
    graph = gs.load(folder / "run.gscope").graph
    places = [(each.kind, each.place) for check in every().values() for each in check.findings(graph)]
    return list(dict.fromkeys(places))


MODEL = """
    import torch
    from torch import nn

    def make():
        return nn.Sequential(
            nn.Linear(8, 16),
            nn.ReLU(),
            nn.Linear(16, 4),
            nn.Softmax(dim=1),
        )

    class Judge(nn.Module):
        def __init__(self):
            super().__init__()
            self.squash = nn.Sigmoid()
            self.layer = nn.Linear(8, 1)

        def forward(self, x):
            scores = self.layer(x)
            return self.squash(scores).squeeze(1)
    """

TRAINING = """
    import torch
    from torch import nn
    import model

    torch.manual_seed(0)
    net, judge = model.make(), model.Judge()
    adam = torch.optim.Adam([*net.parameters(), *judge.parameters()])
    for step in range(4):
        x, y = torch.randn(16, 8), torch.randint(0, 4, (16,))
        adam.zero_grad()
        loss = nn.CrossEntropyLoss()(net(x), y) + nn.BCEWithLogitsLoss()(judge(x), (y > 1).float())
        loss.backward()
        adam.step()
    """


@pytest.mark.parametrize("values", ["full", "summary", "none"])
def test_a_module_in_a_sequence_is_blamed_where_it_is_made_and_one_that_is_called_where_it_is(
    values: Literal["full", "summary", "none"], tmp_path: Path
) -> None:
    places = {("double_softmax", "model.py:9"), ("double_sigmoid", "model.py:20")}
    assert set(found(tmp_path, values, main=TRAINING, model=MODEL)) == places


NESTED = """
    import torch
    from torch import nn
    from torch.nn import functional

    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 4)

        def forward(self, x):
            return functional.softmax(self.layer(x), dim=1)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = Head()
            self.last = nn.LogSoftmax(dim=0)
            self.judge = nn.Linear(8, 4)

        def forward(self, x):
            return self.head(x), self.last(self.judge(x))

    torch.manual_seed(0)
    net = Net()
    adam = torch.optim.Adam(net.parameters())
    for step in range(4):
        x, y = torch.randn(16, 8), torch.randint(0, 4, (16,))
        adam.zero_grad()
        one, other = net(x)
        loss = functional.cross_entropy(one, y) + functional.nll_loss(other, y)
        loss.backward()
        adam.step()
    """


def test_a_function_in_a_module_is_blamed_where_it_is_called_and_a_setting_of_a_module_where_it_is_made(
    tmp_path: Path,
) -> None:
    assert set(found(tmp_path, main=NESTED)) == {("double_softmax", "main.py:11"), ("softmax_axis", "main.py:17")}
