"""Every dtype of PyTorch is named in a log, and the statistics of its tensors are those that PyTorch computes."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from graphscope.debugger import interpreter
from graphscope.debugger.debugger import Debugger
from graphscope.tables import export_tables

pytestmark = pytest.mark.torch

NAMES = (
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "bfloat16", "float16",
    "complex32", "complex64", "uint16", "uint32", "uint64", "int8", "bool", "qint8", "quint8", "qint32",
)  # fmt: skip


def made(name: str) -> Any:
    """Numbers of a dtype, with a NaN where it has one."""
    dtype = getattr(torch, name)
    numbers = torch.tensor([0.0, 1.0, 2.0, 4.0, 64.0, 2.0, 1.0, 0.5]).repeat(1000)
    if name.startswith("q"):
        return torch.quantize_per_tensor(numbers, 0.5, 0, dtype)
    if name.startswith("complex"):
        return torch.complex(numbers, -numbers).to(dtype)
    if dtype.is_floating_point:
        numbers[3] = float("nan")
    return numbers.to(dtype)


def plain(tensor: Any) -> Any:
    """The same in double precision, of complex numbers their absolute values."""
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    return tensor.to(torch.complex64).abs().double() if tensor.is_complex() else tensor.double()


def agrees(summary: Any, tensor: Any) -> None:
    every = plain(tensor)
    finite = every[every.isfinite()]
    expected = finite.min(), finite.max(), finite.mean(), finite.std(correction=0)
    told = summary.minimum, summary.maximum, summary.mean, summary.std
    np.testing.assert_allclose(told, [each.item() for each in expected], rtol=1e-3)
    assert (summary.nan, summary.inf, summary.zero) == (every.isnan().sum(), every.isinf().sum(), (every == 0).sum())


@pytest.mark.parametrize("values", ["full", "summary"])
@pytest.mark.parametrize("name", NAMES)
def test_a_dtype_is_named_and_measured(name: str, values: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some are an experiment of torch's
        whole = made(name)
        with gs.record(tmp_path / "run.gscope", values=values):
            few = whole[:4]
            turned = whole.view(2, -1)
            last = whole[1:2]
    graph = gs.load(tmp_path / "run.gscope").graph
    nodes = {node.name: node for node in graph.nodes}
    for told, tensor in (("whole", whole), ("few", few), ("turned", turned), ("last", last)):
        assert nodes[told].dtype == name
        agrees(graph.log.summary(nodes[told].row), tensor)


BITS = (
    "float4_e2m1fn_x2", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in range(1, 8)), "bits8", "bits16",
)  # fmt: skip


@pytest.mark.parametrize("values", ["full", "summary", "none"])
@pytest.mark.parametrize("name", BITS)
def test_a_dtype_that_nothing_is_computed_with_is_named_and_it_is_said_that_its_values_are_not_kept(
    name: str, values: str, tmp_path: Path
) -> None:
    with gs.record(tmp_path / "run.gscope", values=values):
        bits = torch.arange(16, dtype=torch.uint8)
        turned = bits.view(getattr(torch, name))
        several = turned.chunk(2)
        again = turned.view(torch.uint8)
    log = gs.load(tmp_path / "run.gscope")
    nodes = {node.name: node for node in log.graph.nodes}
    assert nodes["turned"].dtype == name
    assert nodes["turned"].shape == tuple(turned.shape)
    assert {dtype for _, dtype in nodes["several"].outputs} == {name}
    assert len(several) == 2
    assert log.value(nodes["turned"].row) is log.summary(nodes["turned"].row) is None
    assert log.nonfinite(nodes["turned"].row) is False
    if values == "full":
        assert np.array_equal(log.value(nodes["again"].row), again.numpy())
    told = interpreter.run(Debugger(log), f"pt #{nodes['turned'].row}")
    assert f"values of {name} are never kept" in str(told.hint)


@pytest.mark.parametrize("values", ["full", "summary"])
@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith(("q", "complex32"))])
def test_slots_are_of_the_dtype_that_they_are_of(name: str, values: str) -> None:
    whole = made(name)
    with gs.record(values=values) as log:
        for _ in range(3):
            halves = whole[:8].chunk(2)
    log.refresh()
    chunks = [node for node in log.graph.nodes if node.op == "chunk"]
    assert len(chunks) == 3
    for node in chunks:
        assert node.outputs == (((4,), name), ((4,), name))
        for slot, half in enumerate(halves):
            if not name.startswith("float8"):  # of which statistics alone are kept, and not of slots
                agrees(log.summary(node.row, slot), half)


def test_no_value_is_told_of_nested_tensors() -> None:
    with warnings.catch_warnings(), gs.record(values="full") as log:
        warnings.simplefilter("ignore")  # they are a prototype
        whole = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)])
        whole * 2
    log.refresh()
    nested = [node for node in log.graph.nodes if node.op in ("leaf", "mul")]
    assert len(nested) == 2
    assert all(node.value is None for node in nested)


def test_tables_name_them(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    duckdb = pytest.importorskip("duckdb")
    whole = made("float8_e4m3fn")
    with gs.record(tmp_path / "run.gscope", values="full"):
        whole.view(2, -1)
    export_tables([tmp_path / "run.gscope"], tmp_path / "tables", ["nodes", "values"])
    told = duckdb.sql(f"from '{tmp_path}/tables/nodes/**/*.parquet' select dtype where op = 'view'").fetchall()
    counted = duckdb.sql(f"from '{tmp_path}/tables/values/**/*.parquet' select nan, size").fetchall()
    assert told == [("float8_e4m3fn",)]
    assert counted == [(1, 8000)] * 2
