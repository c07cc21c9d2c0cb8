"""What is asked of a program's recording, whichever framework it is of."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from graphscope.eventlog.reader import load
from tests.frameworks.judge import CLOSE, Found, Measures, compare_gradients, difference, measure, record
from tests.frameworks.referee import bare


def recorded_whole(program: Path, log: Path, made_of_gradients: Collection[str] = ()) -> tuple[Measures, Found]:
    """Record a program, and see that its log tells all of it; what was counted and found.

    What it prints is compared with what its folder says that it prints bare, and where this machine computes otherwise
    with what it prints bare here.

    Args:
        program: The program.
        log: Where the log goes.
        made_of_gradients: What it prints as gradients and makes of them itself, so that they arrive at no leaf.
    """
    recording = record(program, log)
    known = json.loads((program.parent / "expected.json").read_text(encoding="utf-8"))[program.name]
    code, output = known["exit"], "".join(f"{line}\n" for line in known["output"])
    if recording.code != code or difference(output, recording.output) > CLOSE:
        code, output = bare(program)
    assert recording.code == code
    assert difference(output, recording.output) <= CLOSE  # what was fused is not
    opened = load(recording.log)
    measures, gradients = measure(opened, program), compare_gradients(opened, recording.output)
    assert measures.forward
    assert measures.tied >= 0.95 * measures.backward > 0
    assert measures.placed >= 0.9 * (measures.forward + measures.backward)
    assert {each.name for each in gradients.missing} == set(made_of_gradients)
    return measures, gradients
