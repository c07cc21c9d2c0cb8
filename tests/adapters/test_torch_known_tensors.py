"""The table of known tensors, compiled, against a dict."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from graphscope.adapters.torch import compiled

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(compiled.Handler is None, reason="the table is a dict without the compiled part"),
]

DEEDS = st.lists(
    st.tuples(st.sampled_from(["set", "take", "get", "die", "forget"]), st.integers(1, 40)), min_size=1, max_size=400
)


@pytest.mark.slow
@given(DEEDS, st.sampled_from([1, 16, 1 << 32, 0x9E3779B9]))
def test_it_does_as_a_dict_does(deeds: list[tuple[str, int]], stride: int) -> None:
    """Strides of addresses that fall on one another included."""
    table, twin = compiled.Table(), dict[int, Any]()
    tensors: dict[int, Any] = {}
    for deed, number in deeds:
        address = number * stride
        if deed == "set":
            tensors[address] = torch.empty(0)
            table[address] = twin[address] = compiled.Known(tensors[address])
        elif deed == "take":
            assert table.take(address) is twin.pop(address, None)
        elif deed == "die":
            tensors.pop(address, None)
        elif deed == "forget":
            table.forget()
            twin = {key: known for key, known in twin.items() if known() is not None}
        else:
            assert table.get(address) is twin.get(address)
        assert len(table) == len(twin)
    assert set(map(id, table.values())) == set(map(id, twin.values()))
    assert all(table.get(key) is known for key, known in twin.items())


def test_it_grows_and_shrinks() -> None:
    table: Any = compiled.Table()
    tensors = [torch.empty(0) for _ in range(5000)]
    for tensor in tensors:
        table[id(tensor)] = compiled.Known(tensor)
    assert len(table) == 5000
    assert all(table.get(id(tensor))() is tensor for tensor in tensors)
    del tensors[::2], tensor
    table.forget()
    assert len(table) == 2500
    assert all(table.get(id(tensor))() is tensor for tensor in tensors)


def test_it_takes_nothing_else() -> None:
    table: Any = compiled.Table()
    with pytest.raises(TypeError):
        table[1] = object()
    with pytest.raises(ValueError, match="address 0"):
        table.get(0)
