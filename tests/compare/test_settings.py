"""Settings of torch that change numbers are in the log, and told as the cause where runs part because of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.compare import diff
from graphscope.eventlog.reader import Log
from graphscope.graph.training import training

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import set_default_dtype as set_dtype
torch.manual_seed(1)
x = torch.randn(64, 256)
w = torch.randn(256, 64).requires_grad_()
{before}
loss = (x @ w).mean() * torch.full((1,), 1e5)
{after}
loss.backward()
"""


def recorded(folder: Path, name: str, before: str = "", after: str = "") -> Log:
    script = folder / f"{name}.py"
    script.write_text(PROGRAM.format(before=before, after=after))
    with gs.record(folder / f"{name}.gscope"):
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    return gs.load(folder / f"{name}.gscope")


def test_settings_are_told_at_the_start_and_where_one_is_set(tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    log = recorded(tmp_path, "a", "set_dtype(torch.float64)", "set_dtype(torch.float32)")
    known = training(log)
    first, last = known.settings(0), known.settings(log.end)
    assert (first["default_dtype"].value, first["default_dtype"].site) == ("float32", 0)
    assert first["num_threads"].value == threads
    assert [each.facts["default_dtype"] for each in known.calls("setting")] == ["float64", "float32"]
    assert known.place(last["default_dtype"].site) == (str(tmp_path / "a.py"), 9)
    assert torch.set_default_dtype.__module__ == "torch"
    assert not hasattr(torch.set_default_dtype, "__wrapped__")


def test_nothing_is_told_of_a_setting_that_stays(tmp_path: Path) -> None:
    log = recorded(tmp_path, "a", "torch.set_num_threads(torch.get_num_threads())")
    assert not training(log).calls("setting")


@pytest.mark.slow
def test_the_setting_is_the_cause(tmp_path: Path) -> None:
    a = recorded(tmp_path, "a")
    b = recorded(tmp_path, "b", "torch.set_default_dtype(torch.float16)", "torch.set_default_dtype(torch.float32)")
    found = diff(a, b).first
    assert found is not None
    assert found.cause == "setting", found
    assert [(each.name, each.a, each.b) for each in found.facts] == [
        ("default_dtype", "float32", "float16, set at b.py:7")
    ]


def test_the_precision_of_products_is_the_cause(tmp_path: Path) -> None:
    a = recorded(tmp_path, "a")
    b = recorded(
        tmp_path, "b", "torch.set_float32_matmul_precision('medium')", "torch.set_float32_matmul_precision('highest')"
    )
    product = [next(each for each in log.graph.nodes if each.op == "matmul").value for log in (a, b)]
    if np.allclose(product[0], product[1], rtol=0, atol=1e-5 * np.abs(product[0]).max()):  # no more than rounding
        pytest.skip("this processor computes products of float32 in float32 whatever is set")
    found = diff(a, b).first
    assert found is not None
    assert (found.cause, found.facts[0].name) == ("setting", "float32_matmul_precision"), found
