"""`testing.assert_close` fails where PyTorch's does."""

from __future__ import annotations

import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

CASES = {
    "equal": lambda t: (t.ones(2), t.ones(2)),
    "near": lambda t: (t.ones(2), t.ones(2) * (1 + 1e-6)),
    "too far": lambda t: (t.ones(2), t.tensor([1.0, 1.0001])),
    "too far for float64": lambda t: (t.ones(2, dtype=t.float64), t.ones(2, dtype=t.float64) * (1 + 1e-6)),
    "near for float16": lambda t: (t.ones(2, dtype=t.float16), t.ones(2, dtype=t.float16) * 1.001),
    "shape": lambda t: (t.ones(2), t.ones(2, 1)),
    "dtype": lambda t: (t.ones(2), t.ones(2, dtype=t.float64)),
    "NaN": lambda t: (t.tensor([t.nan]), t.tensor([t.nan])),
    "infinite": lambda t: (t.tensor([t.inf]), t.tensor([t.inf])),
    "integers": lambda t: (t.tensor([1, 2]), t.tensor([1, 3])),
    "numbers": lambda t: (1.0, 1.0 + 1e-9),
    "numbers apart": lambda t: (1.0, 1.1),
    "list": lambda t: ([t.ones(1), 2.0], [t.ones(1), 2.0]),
    "list apart": lambda t: ([t.ones(1), 2.0], [t.ones(1), 3.0]),
    "lengths": lambda t: ([t.ones(1)], [t.ones(1), t.ones(1)]),
    "mapping": lambda t: ({"a": t.ones(1)}, {"a": t.zeros(1)}),
    "keys": lambda t: ({"a": t.ones(1)}, {"b": t.ones(1)}),
    "empty": lambda t: (t.ones(0), t.ones(0)),
}
OPTIONS = {
    "plain": {}, "loose": {"rtol": 1e-2, "atol": 1e-2}, "NaN equal": {"equal_nan": True},
    "any dtype": {"check_dtype": False},
}  # fmt: skip


def outcome(t, case, options):
    try:
        t.testing.assert_close(*case(t), **options)
    except (AssertionError, ValueError) as error:
        return type(error)
    return None


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_fails_where_that_of_torch_does(case, options):
    assert outcome(gs, case, options) == outcome(torch, case, options)


def test_it_tells_how_many_and_where():
    with pytest.raises(AssertionError, match=r"(?s)elements: 1 / 2.*at index \(1,\).*at \['w'\]"):
        gs.testing.assert_close({"w": gs.ones(2)}, {"w": gs.tensor([1.0, 3.0])})
    with pytest.raises(AssertionError, match=r"^mine$"):
        gs.testing.assert_close(gs.ones(1), gs.zeros(1), msg="mine")


def test_one_tolerance_needs_the_other():
    for t in (torch, gs):
        with pytest.raises(ValueError, match="rtol"):
            t.testing.assert_close(t.ones(1), t.ones(1), rtol=1e-3)
