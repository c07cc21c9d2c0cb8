"""Interleaved timing tells the slow from the fast, and its ratios are those of its own rounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from benchmarks import measure
from benchmarks.engines import Step
from benchmarks.measure import Timings, interleave


def test_ratio_is_the_median_over_rounds_not_of_medians() -> None:
    timings = Timings({"ours": [1.0, 4.0, 30.0], "theirs": [2.0, 2.0, 10.0]})
    assert timings.ratio("ours", "theirs") == 2.0
    assert timings.median("ours") == 4.0


@pytest.mark.slow
def test_every_candidate_runs_in_its_own_session_in_every_round() -> None:
    log: list[str] = []
    inside: list[str] = []

    def step(name: str, work: int) -> Step:
        @contextmanager
        def session() -> Iterator[None]:
            log.append(name)
            inside.append(name)
            yield
            inside.pop()

        def run() -> None:
            assert inside == [name]
            sum(range(work))

        return Step(run, dict, session)

    timings = interleave({"short": step("short", 1_000), "long": step("long", 100_000)}, rounds=3)
    assert log.count("short") == log.count("long") == 3 + 1
    assert [len(rounds) for rounds in timings.rounds.values()] == [3, 3]
    assert timings.ratio("long", "short") > 5


def test_a_session_is_any_context_manager() -> None:
    assert isinstance(Step(int, dict).session(), AbstractContextManager)


@pytest.mark.slow
def test_a_slow_candidate_is_left_out_of_the_last_rounds() -> None:
    timings = interleave({"one": Step(int, dict), "other": Step(int, dict)}, rounds=9, patience=0.0)
    assert [len(rounds) for rounds in timings.rounds.values()] == [measure.FEWEST] * 2
    assert Timings({"slow": [8.0, 9.0], "quick": [4.0, 3.0, 1.0]}).ratio("slow", "quick") == 2.5
