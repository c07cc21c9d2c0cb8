"""Two recordings of one program: where they part is the line whose inputs were the same."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Literal

import pytest

import graphscope as gs
from graphscope.eventlog.reader import Log

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

TRAINING = """
    import random
    import numpy
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    adam = torch.optim.Adam(net.parameters())
    x = torch.randn(64, 4)
    order = torch.Generator().manual_seed(1)
    for epoch in range(2):
        for rows, labels in DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), 16, shuffle=True, generator=order):
            rows = rows * 1.0
            loss = ((net(rows) - labels) ** 2).mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
    """


def recorded(folder: Path, name: str, text: str, values: Literal["full", "summary", "none"] = "full") -> Log:
    script = folder / "train.py"
    script.write_text(text)
    with gs.record(folder / name, values=values):
        exec(compile(text, str(script), "exec"), {"__name__": "__main__"})
    return gs.load(folder / name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("order = torch.Generator().manual_seed(1)", "order = torch.Generator(); order.seed()"),
        ("rows = rows * 1.0", "rows = rows + torch.from_numpy(numpy.random.normal(size=rows.shape)).float()"),
        ("x = torch.randn(64, 4)", "torch.seed(); x = torch.randn(64, 4)"),
        ("rows = rows * 1.0", "rows = rows.flip(1) if len({*map(str, FIRST)}) else rows * 1.0"),
    ],
)
@pytest.mark.parametrize("values", ["full", "summary"])
def test_the_line_where_two_runs_part(
    line: str, changed: str, values: Literal["full", "summary"], tmp_path: Path
) -> None:
    text = textwrap.dedent(TRAINING).strip().replace(line, changed) + "\n"
    branch = "FIRST" in changed
    texts = [text.replace("FIRST", each) if branch else text for each in ("[0]", "[ ]")]
    one, other = (recorded(tmp_path, f"{number}.gscope", each, values) for number, each in enumerate(texts))
    (found,) = gs.doctor(one, other)
    where = "DataLoader(" if "Generator" in changed else changed.partition("FIRST")[0]
    assert found.kind == "nondeterminism"
    assert where in text.splitlines()[found.line - 1]


@pytest.mark.slow
@pytest.mark.parametrize("values", ["full", "summary", "none"])
def test_two_runs_of_a_seeded_program_do_not_part(values: Literal["full", "summary", "none"], tmp_path: Path) -> None:
    text = textwrap.dedent(TRAINING).strip() + "\n"
    one, other = (recorded(tmp_path, f"{number}.gscope", text, values) for number in range(2))
    assert not gs.doctor(one, other)
    assert not gs.doctor(tmp_path / "0.gscope", tmp_path / "1.gscope").unjudged or values == "none"


@pytest.mark.slow
def test_the_command_compares_two_logs(tmp_path: Path) -> None:
    text = "import torch\nx = torch.rand(3, requires_grad=True)\n(x * 2).sum().backward()\n"
    for name in ("one.gscope", "other.gscope"):
        recorded(tmp_path, name, "import torch\ntorch.seed()\n" + text)
    command = [sys.executable, "-m", "graphscope", "doctor", "--json", "one.gscope", "other.gscope"]
    said = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    (found,) = json.loads(said.stdout)["findings"]
    assert (said.returncode, found["kind"], found["line"]) == (1, "nondeterminism", 4)
