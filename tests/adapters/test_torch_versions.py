"""Versions of PyTorch: each private name is looked for, and of a version that is not known a person is told."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from importlib import import_module
from importlib.abc import SourceLoader
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from graphscope.adapters.torch.supported_versions import PROBES, VERSIONS

pytestmark = pytest.mark.torch

NAMES = {
    "torch.autograd.graph._engine_run_backward": (torch.autograd.graph, "_engine_run_backward"),
    "torch._C._autograd._get_sequence_nr": (torch._C._autograd, "_get_sequence_nr"),
    "torch.autograd.function._HookMixin": (torch.autograd.function._HookMixin, "_register_hook"),
    "torch.autograd.Function.apply": (torch.autograd.Function, "apply"),
    "torch.nn.Module.__call__": (torch.nn.Module, "__call__"),
    "the stack of torch function modes": (torch._C, "_pop_torch_function_stack"),
    "torch._C._has_torch_function": (torch._C, "_has_torch_function"),
    "torch._C._has_torch_function_unary": (torch._C, "_has_torch_function_unary"),
    "torch._C._DisableTorchDispatch": (torch._C, "_DisableTorchDispatch"),
    "torch.utils._python_dispatch.TorchDispatchMode": (
        import_module("torch.utils._python_dispatch"),
        "TorchDispatchMode",
    ),
    "torch._C._functorch.is_functorch_wrapped_tensor": (torch._C._functorch, "is_functorch_wrapped_tensor"),
    "torch.optim hooks": (torch.optim.Optimizer, "profile_hook_step"),
}
"""What can be taken away for a while."""

FIXED = {"Node._sequence_nr", "Node.register_prehook", "Node.next_functions",
         "AccumulateGrad.variable", "Tensor._version", "Tensor._base", "UntypedStorage._cdata"}  # fmt: skip
"""Attributes of what is written in C; they stay where they are."""


@pytest.mark.parametrize("name", PROBES)
def test_every_private_name_is_there(name: str) -> None:
    assert PROBES[name]()


def test_what_inference_mode_lacks_is_not_what_the_version_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    with torch.inference_mode(), gs.record() as log:
        torch.ones(3).sin()
    log.refresh()
    assert [node.op for node in log.graph.nodes] == ["ones", "sin"]
    assert "can't be recorded" not in capsys.readouterr().err


def test_a_version_that_lacks_something_is_refused_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(NAMES) | FIXED == set(PROBES)
    for name, (owner, attribute) in NAMES.items():
        with monkeypatch.context() as patch:
            patch.delattr(owner, attribute)
            assert VERSIONS.missing() == [name]
            assert f"it has no {name}" in str(VERSIONS.refusal())
    assert VERSIONS.refusal() is None


def recorded() -> int:
    """How many rows come of a program, which goes on in any case."""
    x = torch.ones(2, requires_grad=True)
    with gs.record() as log:
        torch.nn.Tanh()(x).sum().backward()
    log.refresh()
    assert x.grad is not None
    assert torch.Tensor.backward.__module__ == "torch._tensor"
    return len(log)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "rows", "said"),
    [
        ("2.3.1", False, "PyTorch 2.3.1 can't be recorded: 2.4 is the oldest that can"),
        ("2.99.0a0+git1", True, "PyTorch 2.99.0a0+git1 is none of the versions that this graphscope knows"),
        ("mine", True, "PyTorch mine is none of the versions that this graphscope knows"),
        ("2.15.1+cu132", True, ""),
    ],
)
def test_of_a_version_that_is_not_known_a_person_is_told_once(
    version: str, rows: bool, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch, "__version__", version)
    assert bool(recorded()) == bool(recorded()) == rows
    told = capsys.readouterr().err
    assert said in told
    assert re.sub(r"graphscope: nothing was recorded: .*\n", "", told).count("\n") == (1 if said else 0)


@pytest.mark.slow
def test_a_version_that_has_the_names_and_something_else_in_them_is_left_as_it_was(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.delattr(torch.nn.Module, "zero_grad")
        assert recorded() == 0
    assert "can't be recorded: AttributeError at " in capsys.readouterr().err
    assert recorded() > 0


EARLY = """\
import torch
del torch._C._autograd._get_sequence_nr
import graphscope as gs
with gs.record():
    print(torch.ones(2).sum().item())
"""


@pytest.mark.slow
def test_names_are_looked_for_before_they_are_used() -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    run = subprocess.run(
        [sys.executable, "-c", EARLY], capture_output=True, text=True, check=True, env=environment, timeout=120
    )
    assert run.stdout == "2.0\n"
    assert "it has no torch._C._autograd._get_sequence_nr" in run.stderr


class Written(SourceLoader):
    """A module that lies nowhere, and says that it lies in torch's folder."""

    def get_filename(self, fullname: str) -> str:
        return str(Path(torch.__file__).parent / "made_up.py")

    def get_data(self, path: Any) -> bytes:
        return b"import torch\nx = torch.ones(3) * 2\n"


def test_what_torch_computes_to_import_a_part_of_it_is_not_the_programs() -> None:
    spec = importlib.util.spec_from_loader("made_up", Written())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with gs.record() as log:
        spec.loader.exec_module(module)
        y = module.x + 1
    log.refresh()
    assert y.sum() == 9
    assert [node.op for node in log.graph.nodes] == ["leaf", "add"]
