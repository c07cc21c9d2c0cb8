"""`assert_same_run` in runs of pytest of their own."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

TRAINING = """
import graphscope as torch

def train(rate=0.1, cut=False):
    torch.manual_seed(0)
    first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
    model = torch.nn.ModuleDict({"first": first, "second": second})
    sgd = torch.optim.SGD(model.parameters(), lr=rate)
    for _ in range(4):
        sgd.zero_grad()
        hidden = first(torch.ones(5, 3)).tanh()
        second(hidden.sigmoid() if cut else hidden).square().mean().backward()
        sgd.step()

def test_training(assert_same_run):
    train(ARGUMENTS)
    assert_same_run("training.json")
"""


def run(pytester: pytest.Pytester, arguments: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(test_it=TRAINING.replace("ARGUMENTS", arguments))
    return pytester.runpytest_subprocess("-p", "graphscope.pytest_plugin", "-p", "no:cacheprovider", "-q", *options)


@pytest.mark.slow
def test_a_run_is_compared_with_what_it_did_before(pytester: pytest.Pytester) -> None:
    missing = run(pytester, "")
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*there is no *training.json to compare with*--graphscope-baseline*"])
    run(pytester, "", "--graphscope-baseline").assert_outcomes(passed=1)
    assert (pytester.path / "training.json").stat().st_size < 50_000
    run(pytester, "").assert_outcomes(passed=1)
    changed = run(pytester, "rate=0.11")
    changed.assert_outcomes(failed=1)
    changed.stdout.fnmatch_lines(["*They part in the update of step 1*", "*--graphscope-baseline*"])
    other = run(pytester, "cut=True")
    other.assert_outcomes(failed=1)
    other.stdout.fnmatch_lines(["*They part in the forward pass of step 1*", "*hidden.sigmoid()*"])
