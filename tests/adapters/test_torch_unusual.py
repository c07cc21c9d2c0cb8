"""No tensor ends a recording by being unlike others, and what is recorded of it is true."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn

import graphscope as gs
from graphscope.adapters.torch import compiled
from graphscope.eventlog.schema import Flag, Kind
from tests.adapters.unusual import UNUSUAL, Seen, runs_alone

pytestmark = pytest.mark.torch


slow = pytest.mark.slow


@pytest.mark.parametrize("name", UNUSUAL)
@pytest.mark.parametrize("values", ["full", pytest.param("summary", marks=slow), pytest.param("none", marks=slow)])
def test_no_tensor_ends_a_recording(name: str, values: str) -> None:
    try:
        with gs.record(values=values) as log:
            UNUSUAL[name]()
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
@pytest.mark.parametrize("name", UNUSUAL)
def test_none_does_without_the_compiled_part(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "Handler", None)
    test_no_tensor_ends_a_recording(name, "summary")


def test_of_a_class_that_answers_nothing_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    with gs.record():
        UNUSUAL["mute"]()
    said = capsys.readouterr().err
    assert said.count("graphscope: what is done with tensors of Mute is not recorded: ask somebody else") == 1


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
