"""What reads a long log by stretches finds what looking at each row finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphscope.diagnose.values.op_rows import distinct
from graphscope.eventlog.narrow_numbers import row_type
from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.writer import Writer
from graphscope.graph.series.updates import update_type

ROWS = 300_000
"""More than are looked at in one go."""


@pytest.mark.slow
def test_the_first_rows_that_came_about_alike_are_those_of_a_look_at_each(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run.gscope")
    ops = [writer.intern("ops", name, {"name": name, "formula": "", "inputs": ["x"]}) for name in ("exp", "log", "sin")]
    values = [np.ones(shape, "f4") for _ in ops for shape in ((), (2,))]
    templates = [
        writer.template(Kind.OP, op=ops[which // 2], shape=value.shape, dtype=value.dtype, input_count=1)
        for which, value in enumerate(values)
    ]
    writer.append(writer.template(Kind.LEAF, shape=(), dtype=np.dtype("f4")), values[0])
    random = np.random.default_rng(0)
    late = ROWS - 50  # what comes about behind all stretches but the last
    chosen = random.integers(0, len(templates) - 1, ROWS)
    chosen[late:] = random.integers(0, len(templates), ROWS - late)
    for row, which in enumerate(chosen.tolist(), 1):
        writer.append(templates[which], values[which], 0, 0, 0, row - 1)
    writer.close()
    log = load(tmp_path / "run.gscope")
    rows = np.arange(1, ROWS + 1)
    ways: dict[tuple[object, ...], int] = {}
    for row in rows.tolist():
        ways.setdefault((chosen[row - 1], chosen[row - 2] // 2 if row > 1 else None), row)
    assert distinct(log, rows, depth=2) == sorted(ways.values())


def test_numbers_of_rows_have_room_for_what_is_added_to_them() -> None:
    for end in (1, 10_000_000, 1 << 30, (1 << 30) + 1, 1 << 40):
        most = np.array([end - 1], row_type(end))
        assert int((most + most)[0]) == 2 * (end - 1)
        assert update_type(end)["row"] == row_type(end)
    assert row_type(10_000_000).itemsize == 4
