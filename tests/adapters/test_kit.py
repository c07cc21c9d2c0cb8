"""The kit, by the adapter for HIPS autograd that its page writes: what is recorded is what autograd computes."""

from __future__ import annotations

import importlib.util
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import graphscope as gs
from graphscope.adapters import ADAPTERS, kit
from graphscope.adapters.kit import Attachment, Identities, Notes, Patches, Tape, Versions, notices
from graphscope.eventlog import record as recording
from tests.docs.pages import ROOT, blocks

autograd = pytest.importorskip("autograd")
import autograd.numpy as anp  # noqa: E402

NAME = "graphscope_autograd"
X = np.array([[1.0, 2.0], [3.0, 4.0], [-1.0, 0.5]])


@pytest.fixture
def adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The adapter of the page, in the table."""
    (block,) = (each for each in blocks(ROOT / "docs" / "how-to" / "adapters.md") if each.file == f"{NAME}.py")
    (tmp_path / f"{NAME}.py").write_text(block.text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(NAME, tmp_path / f"{NAME}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, NAME, module)
    spec.loader.exec_module(module)
    monkeypatch.setitem(ADAPTERS, "autograd", NAME)
    yield module
    assert autograd.core.VJPNode.__name__ == "VJPNode"
    assert autograd.core.backward_pass.__module__ == autograd.tracer.new_box.__module__.replace("tracer", "core")


def loss(w):
    h = anp.tanh(1.0 - anp.dot(X, w) * 2)
    return anp.sum(h * h) + anp.sum(h[0] / 3)


def test_the_page_is_as_short_as_it_says(adapter: ModuleType) -> None:
    assert len(Path(adapter.__file__).read_text(encoding="utf-8").splitlines()) <= 150


def test_values_and_cotangents_are_those_of_autograd(adapter: ModuleType) -> None:
    w = np.array([0.1, 0.2])
    bare = autograd.grad(loss)(w)
    with gs.record() as log:
        recorded = autograd.grad(loss)(w)
        np.testing.assert_array_equal(recorded, bare)
        graph = log.graph
        (tanh,) = graph.select("op:tanh forward")
        np.testing.assert_array_equal(tanh.value, np.tanh(1.0 - X @ w * 2))
        (rule,) = graph.select("op:tanh backward")
        h = np.tanh(1.0 - X @ w * 2)
        expected = 2 * h
        expected[0] += 1 / 3
        np.testing.assert_allclose(rule.grad, expected, rtol=1e-12)
        (leaf,) = (node for node in graph.select("name:w forward") if node.kind == "leaf")
        np.testing.assert_allclose(leaf.grad, bare, rtol=1e-12)
        assert {Path(node.site.file).name for node in graph.select("forward")} == {Path(__file__).name}


def test_a_derivative_of_a_derivative_is_recorded_and_right(adapter: ModuleType) -> None:
    second = autograd.grad(lambda x: autograd.grad(lambda y: anp.sin(y) * y**3)(x))
    bare = second(0.7)
    with gs.record() as log:
        assert second(0.7) == bare
        kinds = {node.op for node in log.graph.select("backward")}
    assert {"sin", "multiply"} <= kinds
    assert bare == pytest.approx(np.cos(0.7) * 6 * 0.7**2 + np.sin(0.7) * (6 * 0.7 - 0.7**3))


def test_constants_lie_where_they_stood(adapter: ModuleType) -> None:
    with gs.record() as log:
        for rate in (0.5, 0.25):
            autograd.grad(lambda w, rate=rate: anp.sum(rate - w))(np.ones(2))
        found = [node.operands for node in log.graph.select("op:subtract forward")]
    assert [each[0].constant for each in found] == [0.5, 0.25]


def test_the_value_of_a_function_is_not_called_as_its_argument(adapter: ModuleType) -> None:
    w = np.ones(2)
    with gs.record() as log:
        w = w - autograd.grad(lambda x: anp.sum(x * x))(w)
        assert [(node.op, node.name) for node in log.graph.select("op:sum forward")] == [("sum", "")]
        (leaf,) = log.graph.select("name:w forward")
    assert leaf.kind == "leaf"


def test_a_leaf_of_which_an_element_is_taken_has_its_whole_gradient(adapter: ModuleType) -> None:
    w = np.array([2.0, 3.0])
    with gs.record() as log:
        gradient = autograd.grad(lambda w: anp.sum(w[0] * w))(w)
        (leaf,) = (node for node in log.graph.select("name:w forward") if node.kind == "leaf")
        np.testing.assert_allclose(leaf.grad, gradient)
    np.testing.assert_allclose(gradient, [7.0, 2.0])


def test_a_mistake_in_the_recorder_ends_the_recording_and_not_the_program(
    adapter: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    w = np.array([0.1, 0.2])
    bare = autograd.grad(loss)(w)

    def broken(*_: object) -> None:
        raise LookupError("out of order")

    with gs.record() as log, monkeypatch.context() as patch:
        patch.setattr(Tape, "_fields", broken)
        with pytest.warns(RuntimeWarning, match="recording autograd ended .* out of order"):
            recorded = autograd.grad(loss)(w)
        np.testing.assert_array_equal(recorded, bare)
        assert len(log.graph.nodes) == 0
    with gs.record() as log:
        autograd.grad(loss)(w)
        assert len(log.graph.nodes) > 0


def test_a_mistake_in_the_recorder_is_no_error_of_a_program_that_makes_errors_of_warnings(
    adapter: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    w = np.array([0.1, 0.2])
    bare = autograd.grad(loss)(w)
    monkeypatch.setattr(notices, "unheard", notices.say)
    monkeypatch.setattr(Tape, "_fields", lambda *_: 1 // 0)
    with gs.record(), warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(autograd.grad(loss)(w), bare)
    assert "graphscope: recording autograd ended" in capsys.readouterr().err


def test_an_adapter_that_fails_half_way_leaves_its_framework_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    framework = ModuleType("framework")
    framework.compute, framework.__version__ = len, "1.5"

    class Half(Patches):
        def install(self) -> None:
            self.replace(framework, "compute", abs)
            raise AttributeError("no kernel")

    attachment = Attachment(lambda writer: Half("Framework"), Versions("Framework", framework))
    for _ in range(2):
        with gs.record():
            attachment.attach(recording.active())
            assert framework.compute is len
            attachment.detach()
    assert capsys.readouterr().err.count("Framework 1.5 can't be recorded: AttributeError at ") == 1


@pytest.mark.parametrize(
    ("number", "private", "refused", "noticed"),
    [
        ("1.4", True, "Framework 1.4 can't be recorded: 1.5 is the oldest that can", ""),
        ("2.0", False, "Framework 2.0 can't be recorded: it has no framework._kernel", ""),
        ("2.0.1+cu", True, "", ""),
        ("3.0", True, "", "Framework 3.0 is none of the versions that this graphscope knows (1.5 to 2.0)"),
        ("mine", True, "", "Framework mine is none of the versions"),
    ],
)
def test_versions_are_refused_for_what_they_lack(number: str, private: bool, refused: str, noticed: str) -> None:
    framework = ModuleType("framework")
    framework.__version__ = number
    if private:
        framework._kernel = len
    versions = Versions("Framework", framework, (1, 5), (2, 0), {"framework._kernel": lambda: bool(framework._kernel)})
    assert (versions.refusal() or "").startswith(refused)
    assert bool(versions.refusal()) == bool(refused)
    assert refused or (versions.notice() or "").startswith(noticed)
    assert refused or bool(versions.notice()) == bool(noticed)


@pytest.mark.parametrize(("number", "is_refused"), [("0.4.35", True), ("0.4.36.dev1", False), ("0.5", False)])
def test_the_oldest_version_may_be_told_to_the_patch(number: str, is_refused: bool) -> None:
    framework = ModuleType("framework")
    framework.__version__ = number
    versions = Versions("Framework", framework, (0, 4, 36), (0, 10))
    assert bool(versions.refusal()) == is_refused
    assert is_refused or versions.notice() is None


class Remote:
    """A value on a device: it is copied when it is read."""

    def __init__(self, array: np.ndarray) -> None:
        self._array, self.copies = array, 0
        self.shape, self.dtype = array.shape, array.dtype

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        self.copies += 1
        return self._array


@pytest.mark.parametrize(("values", "copies"), [("full", 1), ("none", 0)])
def test_a_value_is_read_where_the_log_wants_it(values: str, copies: int) -> None:
    numbers = Remote(np.arange(6).reshape(2, 3))
    with gs.record(values=values) as log:
        tape = Tape(recording.active(), "Framework", [np])
        with tape.scope("layer", "Dense"):
            _, answer = tape.op("count", [2], numbers)
        (found,) = log.graph.nodes
        assert answer is numbers
        assert numbers.copies == copies
        assert (found.op, found.shape, found.scope) == ("count", (2, 3), "layer")
        if copies:
            np.testing.assert_array_equal(found.value, numbers._array)


def test_what_is_known_of_an_object_goes_with_it() -> None:
    class Value:
        pass

    identities, notes = Identities(), Notes[str]()
    kept = Value()
    for number in range(5000):
        passing = Value()
        identities.add(passing, number)
        notes.note(passing, "passing")
    identities.add(kept, 7)
    notes.note(kept, "kept")
    del passing
    identities.purge()
    assert (len(identities.table), len(notes)) == (1, 1)
    assert identities.find(kept).row == 7
    assert notes.of(kept) == "kept"
    assert (identities.find(Value()), notes.of(Value())) == (None, None)


def test_the_page_tells_of_all_that_the_kit_has() -> None:
    page = (ROOT / "docs" / "how-to" / "adapters.md").read_text(encoding="utf-8")
    table = [line for line in page.splitlines() if line.startswith("| `")]
    named = {name for line in table for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    modules = {name for line in table for name in re.findall(r"`(\w+)`", line.split("|")[2])}
    public = {
        name for name, value in vars(kit).items() if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert named - {"gate"} == public - {"Writer"}
    assert modules == {each.stem for each in Path(kit.__file__).parent.glob("*.py")} - {"__init__"}
