"""Generated graphs as a log keeps them: their calls as text, and what is made of an entry that is damaged."""

from __future__ import annotations

from typing import Any

import pytest

from graphscope.eventlog import generated

NODES: list[dict[str, Any]] = [
    {"name": "x", "shape": ["s0", 4], "dtype": "float32"},
    {"name": "count"},
    {"name": "y", "op": "getitem", "of": [0, 1], "operands": [{"input": 0}, {"slice": [None, {"input": 1}, None]}]},
    {"name": "z", "op": "sum", "of": [2], "operands": [{"input": 0}], "attributes": {"dim": {"tuple": [0]}}, "site": 3},
]


def entry(nodes: Any, outputs: Any = (3,)) -> dict[str, Any]:
    return {"name": "compiled_f", "generated": {"compilation": "0/1", "forward": {"nodes": nodes, "outputs": outputs}}}


def test_calls_are_told_with_names() -> None:
    found = generated.of_entry(entry(NODES))
    assert found is not None
    assert (found.compilation, found.backward, found.forward.outputs) == ("0/1", None, (3,))
    assert [found.forward.text(each) for each in found.forward.nodes] == [
        "", "", "getitem(x, :count)", "sum(y, dim=(0,))",
    ]  # fmt: skip
    assert found.forward.nodes[0].shape == ("s0", 4)


@pytest.mark.parametrize("told", [
    None, [], {"name": "relu"}, {"generated": 3}, {"generated": {}}, entry(3), entry([3]), entry([{}]),
    entry([{"name": "x", "of": [0]}]), entry([{"name": "x", "of": "no"}]), entry([{"name": "x", "shape": 4}]),
    entry(NODES, 4),
], ids=str)  # fmt: skip
def test_of_a_damaged_entry_nothing_is_told(told: Any) -> None:
    assert generated.of_entry(told) is None


def test_a_call_of_too_few_inputs_is_told_as_far_as_it_goes() -> None:
    found = generated.of_entry(entry([{"name": "x", "op": "neg", "operands": [{"input": 2}]}], [7]))
    assert found is not None
    assert (found.forward.text(found.forward.nodes[0]), found.forward.outputs) == ("neg(?)", ())
