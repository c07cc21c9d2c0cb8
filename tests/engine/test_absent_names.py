"""What PyTorch has and the engine lacks is said to be lacking, however it is asked for; a slip is called one."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from operator import attrgetter
from types import ModuleType

import pytest

import graphscope as gs
from graphscope.engine.absent import INSTEAD, torch_names

MODULES = sorted(torch_names().keys() - {"torch.Tensor"})

WAYS = {
    "gs.bartlett_window": (AttributeError, "graphscope.bartlett_window"),
    "gs.nn.LPPool1d(2)": (AttributeError, "graphscope.nn.LPPool1d"),
    "gs.sparse.mm(1)": (AttributeError, "graphscope.sparse"),
    "gs.nn.functional.lp_pool1d": (AttributeError, "graphscope.nn.functional.lp_pool1d"),
    "gs.ones(3).kthvalue(1)": (AttributeError, "torch.Tensor.kthvalue"),
    "gs.Tensor.kthvalue": (AttributeError, "torch.Tensor.kthvalue"),
    "from graphscope import hann_window": (ImportError, "graphscope.hann_window"),
    "from graphscope.nn import LPPool1d": (ImportError, "graphscope.nn.LPPool1d"),
    "from graphscope.nn.functional import lp_pool1d": (ImportError, "graphscope.nn.functional.lp_pool1d"),
    "from graphscope.nn.utils import prune": (ImportError, "graphscope.nn.utils.prune"),
    "import graphscope.nn.utils.prune": (ModuleNotFoundError, "graphscope.nn.utils.prune"),
    "import graphscope.fx": (ModuleNotFoundError, "graphscope.fx"),
    "import torch; torch.bartlett_window": (AttributeError, "torch.bartlett_window"),
    "from torch.nn import LPPool1d": (ImportError, "torch.nn.LPPool1d"),
    "from torch.nn.modules.pooling import LPPool1d": (ImportError, "torch.nn.modules.pooling.LPPool1d"),
    "import torch.fx": (ModuleNotFoundError, "torch.fx"),
}
SLIPS = {
    "gs.tanhh": AttributeError,
    "gs.nn.Lineer": AttributeError,
    "gs.ones(3).tanhh": AttributeError,
    "from graphscope.nn import Lineer": ImportError,
    "from graphscope import tanhh": ImportError,
    "import graphscope.tanhh": ModuleNotFoundError,
}


def raised(line: str) -> Exception:
    with gs.as_torch(), pytest.raises((AttributeError, ImportError)) as caught:
        exec(line, {"gs": gs})
    return caught.value


@pytest.mark.parametrize("line", WAYS)
def test_one_sentence_whichever_way_it_is_asked_for(line: str) -> None:
    error = raised(line)
    kind, name = WAYS[line]
    assert type(error) is kind
    assert str(error).startswith(f"{name}: graphscope's engine does not have it (asked for at <string>:1); ")
    assert str(error).endswith("run the program with PyTorch, which graphscope records as well")


@pytest.mark.parametrize("line", SLIPS)
def test_a_slip_is_no_absent_name(line: str) -> None:
    error = raised(line)
    assert type(error) is SLIPS[line]
    assert "engine" not in str(error)


@pytest.mark.slow
def test_a_slip_of_a_program_is_put_right() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import graphscope as gs; gs.nn.Lineer"], capture_output=True, text=True
    )
    assert done.stderr.splitlines()[-1].endswith("has no attribute 'Lineer'. Did you mean: 'Linear'?")


def test_programs_can_ask() -> None:
    x = gs.ones(3)
    assert not any(hasattr(*asked) for asked in ((gs, "hann_window"), (gs.nn, "LPPool1d"), (x, "kthvalue"), (gs, "fx")))
    assert getattr(x, "kthvalue", None) is None
    assert "kthvalue" not in dir(x)
    assert "exp" in dir(x)

    class Own(gs.Tensor):
        def kthvalue(self) -> int:
            return 3

    assert Own([1.0]).kthvalue() == 3


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_every_module_answers_for_what_it_lacks(module: str) -> None:
    ours = import_module(module.replace("torch", "graphscope", 1))
    for name in torch_names()[module]:
        if "." not in name and not hasattr(ours, name):
            with pytest.raises(AttributeError, match="graphscope's engine does not have it"):
                getattr(ours, name)


def test_what_is_used_instead_is_there() -> None:
    for name, instead in INSTEAD.items():
        home, _, last = f"torch.{name}".rpartition(".")
        assert last in torch_names()[home] | torch_names()["torch.Tensor"], name
        with pytest.raises(AttributeError, match=f"; use {re.escape(instead)}, or run"):
            attrgetter(name)(gs if last in torch_names()[home] else gs.Tensor)
        if re.fullmatch(r"[\w.]+", instead):
            attrgetter(instead)(gs)


@pytest.mark.torch
@pytest.mark.parametrize("module", [*MODULES, "torch.Tensor"])
def test_the_names_are_those_of_pytorch(module: str) -> None:
    torch = pytest.importorskip("torch")
    if torch.__version__.partition("+")[0] != "2.13.0":
        pytest.skip("the names are those of another version")
    theirs = torch.Tensor if module == "torch.Tensor" else import_module(module)
    inner = {each.name for each in pkgutil.iter_modules(getattr(theirs, "__path__", ()))}
    known = torch_names()[module]
    assert {name for name in known if "." not in name and not hasattr(theirs, name)} <= inner
    public = getattr(theirs, "__all__", ()) if isinstance(theirs, ModuleType) else dir(theirs)
    assert {name for name in public if not name.startswith("_")} - known == set()
