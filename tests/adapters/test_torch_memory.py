"""What a log tells of memory, against torch's own account: the hooks for saved tensors, and the profiler."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from graphscope.adapters.torch.supported_versions import tells_saved
from graphscope.errors import LogError
from graphscope.graph.memory import cost, memory, recorded, shares

pytestmark = pytest.mark.torch

nn: Final = torch.nn
_Parts = tuple[Any, Callable[[], Any], Callable[[Any], Any]]


def mlp() -> _Parts:
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 10))
    return model, lambda: torch.randn(256, 64), _entropy


def cnn() -> _Parts:
    convolutions = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3), nn.ReLU()
    model = nn.Sequential(*convolutions, nn.Flatten(), nn.Dropout(0.2), nn.Linear(8 * 25, 10))
    return model, lambda: torch.randn(16, 3, 16, 16), _entropy


class Recurrent(nn.Module):  # type: ignore[name-defined,misc]
    """An LSTM and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.recurrent = nn.LSTM(16, 32, 2, batch_first=True)
        self.head = nn.Linear(32, 10)

    def forward(self, x: Any) -> Any:
        return self.head(self.recurrent(x)[0][:, -1])


def lstm() -> _Parts:
    return Recurrent(), lambda: torch.randn(16, 12, 16), _entropy


def transformer() -> _Parts:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2)
    return model, lambda: torch.randn(8, 16, 32), lambda output: (output**2).mean()


def _entropy(output: Any) -> Any:
    return nn.functional.cross_entropy(output, torch.randint(0, 10, (len(output),)))


MODELS: Final = [mlp, cnn, lstm, transformer]


def trained(make: Callable[[], _Parts], steps: int = 3) -> Iterator[Any]:
    """Losses, and last the weights, of a training."""
    torch.manual_seed(0)
    model, data, criterion = make()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(steps):
        loss = criterion(model(data()))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()
    yield [each.detach().clone() for each in model.parameters()]


@pytest.mark.parametrize("make", MODELS)
def test_what_is_saved_is_what_the_hooks_for_saved_tensors_are_given(make: Callable[[], _Parts]) -> None:
    torch.manual_seed(0)
    model, data, criterion = make()
    packed: dict[int, Any] = {}

    def pack(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        packed[storage._cdata] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        criterion(model(data())).backward()
    wanted = sum(storage.nbytes() for storage in packed.values())
    parameters = {each.untyped_storage()._cdata for each in model.parameters()}

    torch.manual_seed(0)
    model, data, criterion = make()
    with gs.record(memory=True) as log:
        criterion(model(data())).backward()
    log.refresh()
    found = {saving.storage.number: saving.storage for saving in recorded(log).savings}
    assert sum(storage.bytes for storage in found.values()) == wanted
    held = sum(storage.nbytes() for address, storage in packed.items() if address in parameters)
    assert sum(storage.bytes for storage in found.values() if storage.kind == "parameter") == held


@pytest.mark.slow
@pytest.mark.parametrize("make", [mlp, cnn, transformer])
def test_the_peak_is_that_of_the_profiler(make: Callable[[], _Parts]) -> None:
    with torch.profiler.profile(profile_memory=True) as profile:
        list(trained(make))
    now = peak = 0
    for event in profile.profiler.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            peak = max(peak, now)
    with gs.record(memory=True) as log:
        list(trained(make))
    log.refresh()
    found = recorded(log).peak
    assert found is not None
    assert found.bytes == pytest.approx(peak, rel=0.1)
    assert found.bytes == sum(found.kinds.values()) == sum(storage.bytes for storage in found.storages)


@pytest.mark.slow
@pytest.mark.parametrize("make", MODELS)
def test_a_program_computes_the_same(make: Callable[[], _Parts]) -> None:
    *losses, weights = trained(make)
    with gs.record(memory=True):
        *recorded_losses, recorded_weights = trained(make)
    assert recorded_losses == losses
    assert all(map(torch.equal, recorded_weights, weights))


def lives(make: Callable[[], _Parts]) -> list[tuple[bool, ...]]:
    """Which of the tensors that the modules of a model returned are alive, behind each part of two steps."""
    torch.manual_seed(0)
    model, data, criterion = make()
    optimizer = torch.optim.Adam(model.parameters())
    made: list[weakref.ref[Any]] = []

    def note(result: Any) -> None:
        made.append(weakref.ref((result[0] if isinstance(result, tuple) else result).untyped_storage()))

    for module in model.modules():
        module.register_forward_hook(lambda module, given, result: note(result))
    seen = []
    for _ in range(2):
        loss = criterion(model(data()))
        seen.append(tuple(each() is not None for each in made))
        optimizer.zero_grad()
        loss.backward()
        seen.append(tuple(each() is not None for each in made))
        optimizer.step()
        del loss
        seen.append(tuple(each() is not None for each in made))
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("make", MODELS)
def test_a_program_frees_the_same_at_the_same_time(make: Callable[[], _Parts]) -> None:
    gc.disable()  # what is freed is freed by counts of references
    try:
        bare = lives(make)
        with gs.record(memory=True):
            found = lives(make)
    finally:
        gc.enable()
    assert found == bare
    assert any(any(each) for each in bare)
    assert not all(bare[-1])


def test_storages_are_of_the_kind_that_the_program_holds_them_as() -> None:
    with gs.record(memory=True) as log:
        list(trained(mlp, steps=1))
    log.refresh()
    found = recorded(log)
    model, *_ = mlp()
    size = sum(each.nbytes for each in model.parameters())
    sums = dict.fromkeys(("parameter", "gradient", "optimizer", "data", "saved"), 0)
    for storage in found.storages:
        sums[storage.kind] = sums.get(storage.kind, 0) + storage.bytes
    assert sums["parameter"] == sums["gradient"] == size
    assert sums["optimizer"] == 2 * size + 4 * len(list(model.parameters()))
    assert sums["data"] == 256 * 64 * 4 + 256 * 8
    activations = 2 * 256 * 128 * 4
    assert activations < sums["saved"] < activations + 2 * 256 * 10 * 4


def test_a_storage_that_an_op_resizes_holds_what_it_holds_then() -> None:
    with gs.record(memory=True) as log:
        given = torch.ones(1000)
        out = torch.empty(0)
        torch.mul(given, 2, out=out)
        out.resize_(2000)
        out.untyped_storage().resize_(0)
        out.untyped_storage().resize_(400)
        out.set_(out.untyped_storage(), 0, (100,))
    log.refresh()
    found = recorded(log)
    sizes = [storage.bytes for storage in found.storages]
    assert sizes == [4000, 0, 4000, 8000, 400]
    assert found.peak is not None
    assert found.peak.bytes == 12000
    assert sum(found.at(log.end + 1).values()) == 4400


def test_what_is_saved_is_summed_up_by_line_module_and_op() -> None:
    with gs.record(memory=True) as log:
        list(trained(mlp, steps=1))
    log.refresh()
    savings = recorded(log).largest_pass()
    parts = [(each.row, "saved", cost(each)) for each in savings]
    ops = {share.place: share.bytes for share in shares(log, parts, "op")}
    assert ops["relu"] == ops["tanh"] == 256 * 128 * 4
    assert ops["linear"] == 0  # its input is data, or what the op before has saved; its weight is held anyway
    modules = {share.place: share.bytes for share in shares(log, parts, "module")}
    assert modules["1 (ReLU)"] == ops["relu"]
    calls, criterion = [share for share in shares(log, parts, "line") if share.bytes]
    assert calls.place.startswith("test_torch_memory.py:")
    assert calls.place != criterion.place
    assert calls.bytes == 2 * ops["relu"]


def test_a_second_pass_through_a_graph_that_is_kept_finds_the_same_saved() -> None:
    x = torch.ones(1000, requires_grad=True)
    with gs.record(memory=True) as log:
        y = x.exp().sum()
        y.backward(retain_graph=True)
        y.backward()
    log.refresh()
    first, second = recorded(log).savings
    assert first.storage is second.storage
    assert first.begin < second.begin
    assert first.row == second.row


def test_a_custom_function_and_a_checkpoint_are_told_of() -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x, x.abs())
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    from torch.utils.checkpoint import checkpoint

    x = torch.ones(1000, requires_grad=True)
    with gs.record(memory=True) as log:
        y = Twice.apply(x + 1)
        checkpoint(torch.exp, y, use_reentrant=False).sum().backward()
    log.refresh()
    found = recorded(log)
    assert {log.op(log.event(each.row).op).name for each in found.savings if each.storage.bytes} >= {"Twice"}
    assert x.grad is not None


@pytest.mark.slow
def test_a_function_that_is_made_in_a_step_is_freed() -> None:
    x = torch.ones(3, requires_grad=True)

    def step() -> weakref.ref[Any]:
        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x * 2

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g * 2

        Twice.apply(x).sum().backward()
        return weakref.ref(Twice)

    with gs.record(memory=True):
        made = step()
        gc.collect()
        assert made() is None


def test_a_recording_without_memory_says_how_to_record_it() -> None:
    with gs.record() as log:
        torch.ones(3).sum()
    assert memory(log) is None
    with pytest.raises(LogError, match="memory") as error:
        recorded(log)
    assert "--memory" in str(error.value.hint)


def test_a_version_that_does_not_tell_what_is_saved_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tells_saved() is hasattr(torch.ones(1, requires_grad=True).sin().grad_fn._raw_saved_self, "data")
    monkeypatch.setattr("graphscope.adapters.torch.memory.tells_saved", lambda: False)
    with gs.record(memory=True):
        torch.ones(1)
    assert "does not tell what a graph has saved for backward" in capsys.readouterr().err


def test_an_empty_recording_held_nothing() -> None:
    with gs.record(memory=True) as log:
        pass
    log.refresh()
    found = recorded(log)
    assert (found.peak, found.storages, found.largest_pass()) == (None, (), [])


def test_what_is_compiled_can_not_be_looked_into() -> None:
    with pytest.raises(LogError, match="memory=True"):
        gs.record(memory=True, capture="compiled")
