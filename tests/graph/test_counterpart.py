"""The same place in another rank's log, counted from the last collective that both came to."""

from __future__ import annotations

import numpy as np

from graphscope.eventlog.reader import load
from graphscope.graph.counterpart import counterpart
from tests.graph.ranked import write_ranks


def test_nodes_are_counted_from_the_last_meeting(tmp_path):
    first, second = (load(tape.writer.path) for tape in write_ranks(tmp_path))
    # rank 0: x | mul mul ADD tanh | mul mul ADD tanh | ...   rank 1: x add | mul mul ADD tanh tanh | mul mul ADD ...
    pairs = {0: 0, 1: 2, 2: 3, 3: 4, 4: 5, 5: 7, 6: 8, 7: 9, 8: 10, 9: 12, 11: 14, 12: 15}
    for here, there in pairs.items():
        found = counterpart(first, here, second)
        assert (found.row, found.same) == (there, True)
        back = counterpart(second, there, first)
        assert (back.row, back.same) == (here, True)
    alone = counterpart(second, 6, first)  # its second tanh of the first step
    assert (alone.row, alone.same, alone.met.row) == (3, False, 3)
    before = counterpart(second, 1, first)
    assert (before.row, before.same, before.met) == (0, False, None)


def test_a_log_that_holds_nothing_yet(tmp_path):
    tape, empty = write_ranks(tmp_path)[0], type(write_ranks(tmp_path / "other")[0])(tmp_path / "empty.gscope")
    found = counterpart(load(tape.writer.path), 4, load(empty.writer.path))
    assert (found.row, found.same, found.met) == (0, False, None)
    empty.leaf(np.ones(1))
    assert counterpart(load(empty.writer.path), -1, load(tape.writer.path)).same is False
