"""The plugin in runs of pytest of their own."""

from __future__ import annotations

import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from graphscope.diagnose import doctor

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[2]

LAYER = """
import graphscope as torch
from graphscope.pytest_plugin import assert_gradients_flow, assert_healthy

def train(cut):
    torch.manual_seed(0)
    first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
    model = torch.nn.ModuleDict({"first": first, "second": second})
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        sgd.zero_grad()
        hidden = first(torch.ones(5, 3)).tanh()
        second(hidden.detach() if cut else hidden).square().mean().backward()
        sgd.step()
    return model
"""


def run(pytester: pytest.Pytester, test: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(test_it=LAYER + test)
    return pytester.runpytest_subprocess("-p", "graphscope.pytest_plugin", "-p", "no:cacheprovider", "-q", *options)


def test_pytest_finds_it() -> None:
    found = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    assert [import_module(name).graphscope_log for name in found.values()]


@pytest.mark.slow
def test_a_healthy_training(pytester: pytest.Pytester) -> None:
    test = """
def test_it(graphscope_log):
    model = train(cut=False)
    assert_healthy(graphscope_log)
    assert_gradients_flow(model)
"""
    run(pytester, test).assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_sick_one_fails_with_the_line(pytester: pytest.Pytester) -> None:
    test = """
def test_doctor(graphscope_log):
    train(cut=True)
    assert_healthy(graphscope_log)

def test_nothing_recorded(graphscope_log):
    assert_healthy(graphscope_log)
"""
    result = run(pytester, test)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*missing: gradient that never arrives*", "*test_it.py:12*", "*nothing to judge*"])


@pytest.mark.slow
@pytest.mark.parametrize("recorded", [True, False])
def test_gradients_that_do_not_flow(pytester: pytest.Pytester, recorded: bool) -> None:
    test = f"""
def test_it({"graphscope_log" if recorded else ""}):
    assert_gradients_flow(train(cut=True))
"""
    result = run(pytester, test)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*2 of 4 parameters get no sound gradient", "*first.weight: *", "*first.bias: *"])
    if recorded:
        result.stdout.fnmatch_lines(["*detach at test_it.py:12 cuts the way*"])


@pytest.mark.slow
def test_logs_of_failed_tests_are_kept(pytester: pytest.Pytester) -> None:
    test = """
import pytest

def test_passes():
    train(cut=False)

def test_fails():
    train(cut=True)
    assert False, "as it should"

@pytest.mark.graphscope_unrecorded
def test_records_itself():
    with torch.record() as log:
        train(cut=False)
    assert_healthy(log)

@pytest.fixture
def model():
    return train(cut=True)

def test_fails_with_a_fixture(model):
    assert model is None
"""
    result = run(pytester, test, "--graphscope-log", "logs", "--strict-markers")
    result.assert_outcomes(passed=2, failed=2)
    kept = sorted(path.name for path in (pytester.path / "logs").iterdir())
    assert kept == ["test_it.py_test_fails.gscope", "test_it.py_test_fails_with_a_fixture.gscope"]
    result.stdout.fnmatch_lines(["look: graphscope doctor *test_fails.gscope"])
    for name in kept:
        kinds = [(found.kind, found.line) for found in doctor(pytester.path / "logs" / name)]
        assert ("missing", 12) in kinds
        assert "raised" in [kind for kind, _ in kinds]


@pytest.mark.slow
def test_without_the_option_nothing_is_written(pytester: pytest.Pytester) -> None:
    run(pytester, "def test_it(graphscope_log):\n    train(cut=True)\n    assert False\n").assert_outcomes(failed=1)
    assert not [path for path in pytester.path.rglob("*.gscope") if path.parent == pytester.path]


@pytest.mark.slow
def test_a_pin_fails_with_the_difference(pytester: pytest.Pytester) -> None:
    test = """
def test_it(graphscope_log, graphscope_pin):
    x = torch.ones(2, 3)
    y = (x * 2).tanh()
    z = y.exp()
    graphscope_pin(graphscope_log)
"""
    result = run(pytester, test)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*there is no *pytest --graphscope-pin*"])
    run(pytester, test, "--graphscope-pin").assert_outcomes(passed=1)
    (pin,) = (pytester.path / "graphscope_pins").iterdir()
    assert "exp z (2x3 float32) <- y" in pin.read_text().splitlines()
    run(pytester, test).assert_outcomes(passed=1)
    result = run(pytester, test.replace("y.exp()", "y.sigmoid().exp()"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*-exp z (2x3 float32) <- y", "*+sigmoid*(2x3 float32) <- y", "*+exp z*<- sigmoid -1"])


@pytest.mark.slow
@pytest.mark.torch
def test_a_program_of_pytorch(pytester: pytest.Pytester) -> None:
    if find_spec("torch") is None:
        pytest.skip("needs torch")  # importing it would not outlive what pytester restores
    pytester.makepyfile(
        test_it=LAYER.replace("import graphscope as torch", "import torch")
        + """
def test_it(graphscope_log, graphscope_pin):
    model = train(cut=False)
    assert_healthy(graphscope_log)
    assert_gradients_flow(model)
    graphscope_pin(graphscope_log)
"""
    )
    words = ("-p", "graphscope.pytest_plugin", "-p", "no:cacheprovider", "-q")
    pytester.runpytest_subprocess(*words, "--graphscope-pin").assert_outcomes(passed=1)
    pytester.runpytest_subprocess(*words).assert_outcomes(passed=1)


@pytest.mark.slow
def test_it_loads_nothing_that_is_not_used(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="""
import sys

def test_it():
    loaded = {name for name in sys.modules if name.startswith("graphscope.")}
    assert not {name for name in loaded if "eventlog" in name or "diagnose" in name or "engine" in name}
    assert "numpy" not in sys.modules
"""
    )
    others = ("cacheprovider", "hypothesispytest", "jaxtyping")  # plugins of others, which load NumPy themselves
    words = ("-p", "graphscope.pytest_plugin", *(word for name in others for word in ("-p", f"no:{name}")))
    pytester.runpytest_subprocess(*words).assert_outcomes(passed=1)
