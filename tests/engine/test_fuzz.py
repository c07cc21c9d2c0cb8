"""Random programs agree with PyTorch after every statement: values, gradients, and whether it raises."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from tests.engine.fuzzing.__main__ import program
from tests.engine.fuzzing.pool import Pool
from tests.engine.fuzzing.statements import KINDS, READY, statement
from tests.engine.fuzzing.twin import (
    MAY_BE_REFUSED,
    SAVES_MORE,
    Difference,
    Twin,
    as_text,
    first_difference,
    in_float64,
    shrunk,
)
from tests.engine.fuzzing.wider import WIDER

pytestmark = pytest.mark.torch

MANY = 3_000
"""Seeds that CI tries; `python -m tests.engine.fuzzing --programs 20000` tries more."""
MANY_WIDER = 400
"""Seeds for programs of more kinds of statements (`--wider`)."""


class Drawn:
    """Choices that hypothesis makes."""

    def __init__(self) -> None:
        self.array: st.DataObject | None = None

    def integer(self, low: int, high: int) -> int:
        assert self.array is not None
        return self.array.draw(st.integers(low, high))


class Programs(RuleBasedStateMachine):
    """A program that grows by a statement at a time, on both engines."""

    def __init__(self) -> None:
        super().__init__()
        self.twin = Twin()
        self.choice = Drawn()
        self.pool = Pool(self.choice, self.twin.torch, self.twin.ours)

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.add("leaf", data)

    @rule(kind=st.sampled_from(sorted(READY)), data=st.data())
    def add(self, kind: str, data: st.DataObject) -> None:
        self.choice.array = data
        line = statement(self.pool, {kind: KINDS[kind]})
        if line is None:
            return
        with in_float64():
            found = self.twin.run(line)
        assert found is None, "\n" + as_text(*shrunk(self.twin.statements, found))


@pytest.mark.slow
def test_programs_that_hypothesis_makes() -> None:
    run_state_machine_as_test(
        Programs,
        settings=settings(
            max_examples=50,
            phases=[Phase.generate],  # `shrunk` makes short what it finds, and faster
            stateful_step_count=25,
            suppress_health_check=list(HealthCheck),
        ),
    )


def differing(seeds: range, *, wider: bool = False) -> list[str]:
    """The programs of these seeds that show a difference, each as short as it can be made; at most three."""
    kinds, may_be_refused = (WIDER, MAY_BE_REFUSED + SAVES_MORE) if wider else (READY, MAY_BE_REFUSED)
    found = []
    for seed in seeds:
        lines, difference = program(seed, kinds, may_be_refused=may_be_refused)
        if difference is not None:
            found.append(f"# seed {seed}\n{as_text(*shrunk(lines, difference, may_be_refused))}")
            if len(found) == 3:
                break
    return found


@pytest.mark.slow
def test_programs_of_seeds() -> None:
    assert not (found := differing(range(60))), "\n\n" + "\n\n".join(found)


@pytest.mark.slow
def test_many_programs_of_seeds() -> None:
    assert not (found := differing(range(MANY))), "\n\n" + "\n\n".join(found)


def test_wider_programs_of_seeds() -> None:
    assert not (found := differing(range(20), wider=True)), "\n\n" + "\n\n".join(found)


@pytest.mark.slow
def test_many_wider_programs_of_seeds() -> None:
    assert not (found := differing(range(MANY_WIDER), wider=True)), "\n\n" + "\n\n".join(found)


def test_a_difference_is_found_and_made_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an engine that is broken on purpose, the program that shows it is told as text that can be run."""
    import graphscope as gs

    right = gs.Tensor.tanh
    monkeypatch.setattr(gs.Tensor, "tanh", lambda x: right(x) * 1.001)
    lines = [
        "x0 = torch.tensor([1.0, 2.0], requires_grad=True)",
        "x1 = x0 * 2",
        "x2 = x1.sin()",
        "x3 = x0.tanh()",
        "x4 = x3 + x1",
    ]
    difference = first_difference(lines)
    assert isinstance(difference, Difference)
    assert (difference.kind, difference.statement) == ("value", "x3 = x0.tanh()")
    short, difference = shrunk(lines, difference)
    assert short == [lines[0], lines[3]]
    text = as_text(short, difference)
    assert "# value: x3" in text
    names: dict[str, object] = {}
    exec(text.replace("torch.set_default_dtype(torch.float64)\n", ""), names)
    assert "x3" in names


OURS = "'graph' in torch.__name__"

APART = {
    "grad": f"x0.grad = x0.detach() * (1 if {OURS} else 2)",
    "requires_grad": f"x1 = torch.tensor([1.0], requires_grad={OURS})",
    "is_leaf": f"x1 = x0 if {OURS} else x0 * 1",
    "value": f"x1 = x0 * (1 if {OURS} else 2)",
    "value: x1  has shape": f"x1 = torch.ones(2 if {OURS} else 3)",
    "value: x1  has dtype": f"x1 = torch.ones(2, dtype=torch.float32 if {OURS} else torch.float64)",
    "raises": f"x1 = 1 / 0 if {OURS} else x0",
    "does not raise": f"x1 = x0 if {OURS} else 1 / 0",
    "missing": f"x1 = x0.no_such_method() if {OURS} else x0 * 1",
}


@pytest.mark.parametrize("what", APART)
def test_each_kind_of_difference_is_seen(what: str) -> None:
    found = first_difference(["x0 = torch.tensor([1.0], requires_grad=True)", APART[what]])
    assert found is not None
    assert found.what.startswith(what)
