"""Programs that import torch run on this engine without an edit, whether PyTorch is installed or not."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

import graphscope as gs

from .conftest import Run

PROGRAM = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim, tensor
from torch.nn import Linear
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.backends.cudnn.deterministic = True
torch.manual_seed(3)
net = nn.Sequential(Linear(2, 4), nn.Tanh(), nn.Linear(4, 1)).to(device)
optimizer = optim.SGD(net.parameters(), lr=0.1)
x, y = torch.ones(5, 2, device=device), torch.zeros(5, 1)
for x, y in DataLoader(TensorDataset(x, y), batch_size=2):
    x = x.to(device)
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
assert isinstance(loss, torch.Tensor)
assert isinstance(net, torch.nn.Module)
assert x.dtype == torch.float32
assert x.device == torch.device("cpu")
assert tensor([1]).dtype == torch.int64
with torch.no_grad():
    assert not net(x).requires_grad
torch.save(net.state_dict(), "net.pt")
net.load_state_dict(torch.load("net.pt"))
print(torch.__version__, loss.item() >= 0)
"""
BROKEN = "raise ImportError('this is the other torch')\n"


@pytest.fixture
def another_torch(tmp_path: Path) -> Path:
    """A folder first on the path of scripts in it, whose `torch` can't be imported."""
    (tmp_path / "torch.py").write_text(BROKEN)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("command", ["record", "debug"])
def test_a_program_of_torch_runs(run: Run, another_torch: Path, command: str) -> None:
    (another_torch / "train.py").write_text(PROGRAM)
    flags = ["-c", "c", "-c", "q"] if command == "debug" else []
    result = run("-m", "graphscope", command, "--as-torch", *flags, "train.py")
    assert result.returncode == 0, result.stderr
    assert re.search(r"^\d+\.\d+\.\d+\+graphscope\S* True$", result.stdout, re.MULTILINE)


def test_its_graph_is_recorded_with_its_lines(run: Run, another_torch: Path) -> None:
    (another_torch / "train.py").write_text(PROGRAM)
    assert run("-m", "graphscope", "record", "--as-torch", "train.py").returncode == 0
    graph = gs.load(another_torch / "train.gscope").graph
    (tanh, *_) = graph.select("op:tanh forward")
    assert tanh.site is not None
    assert (Path(tanh.site.file).name, tanh.site.line) == ("train.py", 17)


def test_without_the_flag_torch_is_torch(run: Run, another_torch: Path) -> None:
    (another_torch / "train.py").write_text(PROGRAM)
    result = run("-m", "graphscope", "record", "train.py")
    assert result.returncode == 1
    assert "this is the other torch" in result.stderr


@pytest.mark.slow
def test_modules_of_the_program_import_it_too(run: Run, another_torch: Path) -> None:
    (another_torch / "model.py").write_text("from torch import nn\nclass Net(nn.Module):\n    pass\n")
    (another_torch / "train.py").write_text("import model, torch\nprint(isinstance(model.Net(), torch.nn.Module))")
    assert run("-m", "graphscope", "record", "--as-torch", "train.py").stdout == "True\n"


MISSING = {
    "torch.sparse.mm(1)": ("AttributeError", "torch.sparse.mm"),
    "torch.ByteStorage": ("AttributeError", "torch.ByteStorage"),
    "from torch import sparse": ("ImportError", "torch.sparse"),
    "from torch.nn import LPPool1d": ("ImportError", "torch.nn.LPPool1d"),
    "import torch.sparse": ("ModuleNotFoundError", "torch.sparse"),
    "from torch.fx.experimental import proxy_tensor": ("ModuleNotFoundError", "torch.fx"),
    "torch.nn.functional.lp_pool1d(1)": ("AttributeError", "torch.nn.functional.lp_pool1d"),
    "torch.ones(1).kthvalue(1)": ("AttributeError", "torch.Tensor.kthvalue"),
}


def asking(lines: Iterable[str]) -> str:
    """A program that asks for each of these and tells what happened."""
    tries = (f"try:\n    {line}\nexcept Exception:\n    sys.excepthook(*sys.exc_info())\n" for line in lines)
    return "import sys, torch\n" + "".join(tries)


@pytest.mark.slow
def test_what_is_missing_is_named_where_it_is_asked_for(run: Run, another_torch: Path) -> None:
    text = asking(MISSING) + "torch.sparse\n"
    (another_torch / "train.py").write_text(text)
    result = run("-m", "graphscope", "record", "--as-torch", "train.py")
    assert result.returncode == 1
    said = result.stderr.splitlines()
    for line, (error, name) in {**MISSING, "torch.sparse": ("AttributeError", "torch.sparse")}.items():
        number = text.splitlines().index(line if line == "torch.sparse" else f"    {line}") + 1
        at = next(place for place, words in enumerate(said) if words.endswith(f'train.py", line {number}, in <module>'))
        last = next(words for words in said[at:] if words.startswith(error))
        sentence = f"graphscope's engine does not have it (asked for at train.py:{number})"
        assert last.startswith(f"{error}: {name}: {sentence}")


TYPOS = {
    "torch.Tenzor": "AttributeError: module 'torch' has no attribute 'Tenzor'. Did you mean: 'Tensor'?",
    "torch.nn.Lineer": "AttributeError: module 'torch.nn' has no attribute 'Lineer'. Did you mean: 'Linear'?",
    "from torch.nn import Lineer": "ImportError: cannot import name 'Lineer' from 'torch.nn'. Did you mean: 'Linear'?",
    "import torch.spectral": "ModuleNotFoundError: No module named 'torch.spectral'",
    "import torch.eventlog": "ModuleNotFoundError: No module named 'torch.eventlog'",
    "from torch import eventlog": "ImportError: cannot import name 'eventlog' from 'torch'",
}


def test_what_pytorch_lacks_too_is_a_slip(run: Run, another_torch: Path) -> None:
    (another_torch / "train.py").write_text(asking(TYPOS))
    said = run("-m", "graphscope", "record", "--as-torch", "train.py").stderr.splitlines()
    assert [line for line in said if re.match(r"\w+Error: ", line)] == list(TYPOS.values())


def test_programs_can_ask_what_is_there(run: Run, another_torch: Path) -> None:
    (another_torch / "train.py").write_text(
        "import torch\n"
        "print(hasattr(torch, 'sparse'), hasattr(torch, 'tanh'), getattr(torch, 'sparse', None))\n"
        "try:\n    import torch.sparse\nexcept ImportError:\n    print('no')\n"
        "print('tanh' in dir(torch), 'record' in dir(torch), torch.__name__, torch.nn.__name__)\n"
    )
    result = run("-m", "graphscope", "record", "--as-torch", "train.py")
    assert result.stdout.splitlines() == ["False True None", "no", "True False torch torch.nn"]


def test_names_are_given_back(another_torch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "torch"}
    finders = list(sys.meta_path)
    with gs.as_torch():
        import torch
        import torch.nn.functional as F

        assert torch.Tensor is gs.Tensor
        assert F.relu is gs.nn.functional.relu
    after = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "torch"}
    assert (after, sys.meta_path) == (before, finders)


def test_it_holds_until_it_is_closed() -> None:
    finders = list(sys.meta_path)
    alias = gs.as_torch()
    try:
        import torch

        assert torch.zeros is gs.zeros
    finally:
        alias.close()
        alias.close()
    assert sys.meta_path == finders


@pytest.mark.torch
def test_torch_itself_is_put_aside_and_comes_back() -> None:
    torch = pytest.importorskip("torch")
    with gs.as_torch():
        import torch as other

        assert other is not torch
        assert other.tensor is gs.tensor
    import torch as again

    assert again is torch
    assert torch.ones(2).sum().item() == 2
