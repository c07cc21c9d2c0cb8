"""Which steps of optimizers end training steps."""

from __future__ import annotations

from graphscope.eventlog.sampling import Sampling


class Optimizer:
    """One of a program's own."""


def test_one_that_lies_where_another_one_lay_is_not_taken_for_that() -> None:
    sampling = Sampling(1, None)
    first, second = Optimizer(), Optimizer()
    assert sampling.ends(first, None)
    assert sampling.ends(second, None)
    assert not sampling.ends(first, None)  # the newest one ends them
    place, others = id(first), [second]
    del first
    while id(third := Optimizer()) != place:
        others.append(third)
    assert sampling.ends(third, None)
    assert not sampling.ends(second, None)


def test_one_that_cannot_be_referred_to_is_told_by_its_address() -> None:
    sampling = Sampling(1, None)
    assert sampling.ends(None, None)
    assert sampling.ends((), None)
    assert not sampling.ends(None, None)
