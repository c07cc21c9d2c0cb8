"""No tensor ends a recording by being unlike others, and what is recorded of it is true."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn

import graphscope as gs
from graphscope.adapters.torch import compiled
from graphscope.adapters.torch.tensor_elements import statistics
from graphscope.eventlog.schema import Flag, Kind
from tests.adapters.special_tensors import SPECIAL, Seen, runs_alone

pytestmark = pytest.mark.torch


slow = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("values", ["full", pytest.param("summary", marks=slow), pytest.param("none", marks=slow)])
def test_no_tensor_ends_a_recording(name: str, values: str) -> None:
    try:
        with gs.record(values=values) as log:
            SPECIAL[name]()
            torch.zeros(7, 5, 3).mul(2)
    except Exception:
        if runs_alone(name):
            raise
        pytest.skip(f"torch {torch.__version__} can't run it alone either")
    log.refresh()
    events = [log.event(row) for row in range(log.first, log.end)]
    for event in events:
        log.value(event.row)
    assert events[-1].shape == (7, 5, 3)  # it went on to the end


@slow
@pytest.mark.parametrize("name", SPECIAL)
def test_none_does_without_the_compiled_part(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "Handler", None)
    test_no_tensor_ends_a_recording(name, "summary")


def test_a_class_that_answers_nothing_is_not_asked(capsys: pytest.CaptureFixture[str]) -> None:
    with gs.record() as log:
        SPECIAL["mute"]()
    log.refresh()
    assert [node.op for node in log.graph.nodes] == ["leaf", "mul", "mul"]
    assert not capsys.readouterr().err


def outputs(program: Any, values: str = "full") -> list[Any]:
    """The log of a program, and the rows of its ops."""
    with gs.record(values=values) as log:
        program()
    log.refresh()
    return [log, [event for event in map(log.event, range(log.first, log.end)) if event.kind is Kind.OP]]


def test_values_are_those_that_the_program_sees() -> None:
    z = torch.tensor([1 + 2j, 3 - 4j])
    halves = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
    seen: list[Any] = []

    def program() -> None:
        seen.extend([z.conj(), z.conj().imag, z.conj().mul(1), halves[0], torch.arange(6.0).view(2, 3).t()])

    log, ops = outputs(program)
    shown = [log.value(event.row) for event in ops]
    for each in seen:
        expected = each.resolve_conj().resolve_neg()
        expected = expected.float() if expected.dtype is torch.bfloat16 else expected
        found = [value for value in shown if value.shape == expected.shape and value.dtype == expected.numpy().dtype]
        assert any(np.array_equal(value, expected.numpy()) for value in found), each


def test_a_zero_that_is_not_there_is_kept_as_zero() -> None:
    def program() -> None:
        torch._efficientzerotensor((3,)).clone()
        torch._efficientzerotensor((3,)).neg()

    log, ops = outputs(program)
    assert ops
    for event in ops:
        np.testing.assert_array_equal(log.value(event.row), np.zeros(3))


def test_statistics_of_what_was_expanded_count_every_element() -> None:
    numbers = torch.tensor([[1.0], [float("nan")], [0.0]])
    log, ops = outputs(lambda: numbers.expand(3, 4000), "summary")
    (event,) = [event for event in ops if event.shape == (3, 4000)]
    assert event.flags & Flag.SUMMARY
    summary = log.summary(event.row)
    assert (summary.nan, summary.zero, summary.maximum, summary.mean) == (4000, 4000, 1.0, 0.5)
    assert summary.std == 0.5


@pytest.mark.parametrize("scale", [1e-38, 1e-25, 1e-18, 1e18, 1e25, 1e37])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64])
def test_statistics_that_torch_takes_are_right_of_numbers_that_have_no_squares(dtype: Any, scale: float) -> None:
    """As on an accelerator, and of complex numbers."""
    numbers = (torch.randn(3000, dtype=torch.float64) * scale).to(dtype)
    numbers[1] = 0
    wide = (numbers.abs() if numbers.is_complex() else numbers).double()
    found = statistics(numbers)
    expected = wide.min(), wide.max(), wide.mean(), wide.std(correction=0)
    told = found.minimum, found.maximum, found.mean, found.std
    np.testing.assert_allclose(np.array(told) / scale, np.array(expected) / scale, rtol=1e-4, atol=1e-6)
    assert found.zero == (wide == 0).sum()


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_statistics_of_complex_numbers_are_those_of_their_absolute_values(dtype: Any) -> None:
    z = torch.randn(3000, dtype=dtype)
    z[1], z[2] = complex("nan"), 0
    log, ops = outputs(lambda: [z.view(50, 60) for _ in range(3)], "summary")
    size = z.abs()[~z.isnan()].double()
    expected = size.min(), size.max(), size.mean(), size.std(correction=0)
    assert len(ops) == 3
    for event in ops:
        found = log.summary(event.row)
        np.testing.assert_allclose((found.minimum, found.maximum, found.mean, found.std), expected, rtol=1e-5)
        assert (found.nan, found.inf, found.zero) == (1, 0, 1)


@pytest.mark.parametrize("bad", [0, 3])
def test_statistics_of_a_call_with_many_inputs_are_torchs(bad: int) -> None:
    torch.manual_seed(0)
    layer, x, made = nn.BatchNorm2d(16), torch.randn(4, 16, 16, 16), []
    x[0, 0, 0, :bad] = float("nan")
    log, ops = outputs(lambda: made.append(layer(x)), "summary")
    (event,) = [event for event in ops if len(event.inputs) == 5]
    summary, (result,) = log.summary(event.row), made
    finite = result.detach()[result.isfinite()].double()
    expected = finite.min(), finite.max(), finite.mean(), finite.std(correction=0)
    np.testing.assert_allclose((summary.minimum, summary.maximum, summary.mean, summary.std), expected, atol=1e-6)
    assert summary.nan == result.isnan().sum()
    assert log.nonfinite(event.row) is bool(bad)


def test_what_the_program_sees_of_torch_is_what_it_sees_bare() -> None:
    calls: list[str] = []

    class Counted(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            calls.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    def program() -> list[str]:
        calls.clear()
        x = torch.ones(3).as_subclass(Counted).requires_grad_()
        (x * 2).t().sum().backward()
        with Seen() as seen:
            w = torch.ones(3, 2, requires_grad=True)
            (w.t() * 2).t().sum().backward()
            w.detach().fill_(1)
        return [*calls, *seen.ops]

    bare = program()
    with gs.record(values="full"):
        assert program() == bare


@pytest.mark.parametrize("capture", ["calls+backward", pytest.param("ops", marks=slow)])
@pytest.mark.parametrize("strict", [False, pytest.param(True, marks=slow)])
def test_an_export_of_any_batch_is_one_of_any_batch_while_it_is_recorded(strict: bool, capture: str) -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    with gs.record(capture=capture) as log:
        batch = torch.export.Dim("batch")
        x = torch.ones(4, 3)
        program = torch.export.export(model, (x,), dynamic_shapes=({0: batch},), strict=strict)
        x.mul(2)
    log.refresh()
    assert {node.op for node in log.graph.nodes} == {"ones", "mul"}  # the export is none of the program's own
    for count in (2, 5, 64):
        x = torch.randn(count, 3)
        assert torch.equal(program.module()(x), model(x))


Z: Any = torch.tensor([1 + 2j, 3 + 4j, 5 + 6j])

LAZY: dict[str, Any] = {
    "negative": Z.conj().imag,
    "negative without a base": Z.conj().imag.detach(),
    "negative of reals": torch._neg_view(torch.tensor([1.0, 2.0, 3.0])),
    "negative in double": Z.to(torch.complex128).conj().imag,
    "one negative": Z[:1].conj().imag,
    "conjugate": Z.conj(),
    "zeros": torch._efficientzerotensor((3,)),
    "copied on write": torch._lazy_clone(torch.tensor([1.0, 2.0, 3.0])),
    "sparse": torch.tensor([0.0, 2.0, 0.0]).to_sparse(),
    "expanded": torch.tensor([5.0]).expand(3),
    "flipped": torch.tensor([1.0, 2.0, 3.0]).flip(0),
    "halves": torch.tensor([1.0, 2.0, 3.0], dtype=torch.bfloat16),
}
LOOKS: list[Any] = [
    lambda y: y.view(-1, 1), lambda y: y[-1:], lambda y: y[0], lambda y: y.detach(), lambda y: y.real,
    lambda y: y.imag, lambda y: y.unsqueeze(0), lambda y: y.t(), lambda y: y + 1, lambda y: y.clone(),
    lambda y: y.conj(), torch._neg_view,
]  # fmt: skip
"""Ops that give a view of what is lazy, or compute with it."""


@pytest.mark.slow
@pytest.mark.parametrize("values", ["full", "summary"])
@pytest.mark.parametrize("name", LAZY)
def test_tensors_made_before_the_recording_are_kept_as_they_read(name: str, values: str) -> None:
    lazy = LAZY[name]
    for look in LOOKS:
        try:
            wanted = look(lazy)
            wanted = wanted.to_dense() if wanted.layout is not torch.strided else wanted
            wanted = (wanted + torch.zeros(wanted.shape, dtype=wanted.dtype)).flatten().tolist()
        except (RuntimeError, NotImplementedError):
            continue

        def program(look: Any = look) -> None:
            for _ in range(3):  # compiled code sees the second
                look(lazy)

        log, _ = outputs(program, values)
        assert log.value(log.end - 1).flatten().tolist() == wanted


@pytest.mark.slow
def test_zeros_that_lie_nowhere_are_not_looked_for() -> None:
    alone = """\
import torch, graphscope as gs
zeros = torch._efficientzerotensor((4,))
with gs.record():
    for _ in range(3):
        zeros[1:].view(3, 1)
        torch._efficientzerotensor((4,), dtype=torch.complex64).imag
"""
    subprocess.run([sys.executable, "-c", alone], check=True, timeout=60)
