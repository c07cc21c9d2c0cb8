"""What a signal handler raises in the middle of the recorder's work reaches the program, and the recording goes on."""

from __future__ import annotations

import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")


def check(result) -> None:
    assert result.stderr == ""
    interrupted, got, grows, knows = result.stdout.split()
    assert int(interrupted) > 50
    assert int(got) == int(interrupted)
    assert (grows, knows) == ("True", "True")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["OSError", "own"])
def test_every_interruption_of_the_engine_arrives(program, kind: str) -> None:
    check(program("interrupted.py", "graphscope", ".", "calls+backward", kind))


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("step", ["view", "optimizer"])
def test_every_interruption_of_a_small_step_arrives(program, step: str) -> None:
    check(program("interrupted.py", step, ".", "calls+backward", "OSError"))


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["OSError", "own"])
@pytest.mark.parametrize("capture", ["calls+backward", "ops"])
def test_every_interruption_of_a_step_arrives(program, capture: str, kind: str) -> None:
    check(program("interrupted.py", "torch", ".", capture, kind, timeout=600))


@pytest.mark.slow
@pytest.mark.torch
def test_timers_that_interrupt_a_recorded_loop_all_arrive(program) -> None:
    result = program("timers.py")
    assert result.stderr == ""
    raised, got = result.stdout.split()
    assert (raised, got) == ("60", "60")


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("capture", ["calls+backward", pytest.param("ops", marks=pytest.mark.slow)])
def test_a_program_that_goes_to_the_end_of_the_stack_is_recorded_on(program, capture: str) -> None:
    result = program("recursion.py", capture)
    assert result.stderr == ""
    assert result.stdout == "RecursionError\nTrue\n"
