"""Results of several parts: named, and printed as PyTorch prints them."""

from __future__ import annotations

import pytest

import graphscope as gs

LINES = [
    "x.max(1)",
    "x.sort(0)",
    "x.topk(2)",
    "x.median(1)",
    "x.mode(1)",
    "x.cummax(0)",
]


def result(library, line):
    return eval(line, {"t": library, "x": library.tensor([[1.0, 3.0, 2.0], [6.0, 5.0, 4.0]])})


@pytest.mark.torch
@pytest.mark.parametrize("line", LINES)
def test_a_result_prints_as_in_torch(line):
    torch = pytest.importorskip("torch")
    expected, found = result(torch, line), result(gs, line)
    assert repr(found) == repr(expected).replace("torch.", "graphscope.")
    assert type(found)._fields == tuple(name for name in ("min", "max", "values", "indices") if hasattr(expected, name))


def test_a_result_is_a_tuple_of_a_type_with_a_name():
    values, indices = found = gs.tensor([1.0, 3.0, 2.0]).max(0)
    assert isinstance(found, gs.return_types.max)
    assert (values.item(), indices.item()) == (3.0, 1)
    assert found.values is values
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        gs.return_types.nothing  # noqa: B018
