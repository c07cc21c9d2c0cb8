"""A table's rows as a Parquet file, written batch by batch."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.tables.batches import ROWS, Batch, Coded, Values
from graphscope.tables.needs import needed
from graphscope.tables.schema import Type

if TYPE_CHECKING:
    import pyarrow

    from graphscope.tables.schema import Table


def write(path: Path, table: Table, batches: Iterable[Batch]) -> int:
    """Write a file whole or not at all; how many rows it has.

    Each batch is a row group, so that the least and greatest `step` of each lies in the file, and an engine that is
    asked for some steps reads these alone. Of floating columns it does not: NaN is neither, and engines take a column
    for one without NaN whose least and greatest are told, DuckDB 2 even for `isnan`.
    """
    pa, parquet = needed("pyarrow"), needed("pyarrow.parquet")
    schema = pa.schema([(column.name, arrow_type(pa, column.type)) for column in table.columns])
    ordered = [column.name for column in table.columns if column.type in _ORDERED]
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}")  # engines pass over names that begin so
    rows = 0
    try:
        # Without Arrow's own schema every engine sees plain text where there are dictionaries.
        with parquet.ParquetWriter(
            unfinished, schema, compression="zstd", store_schema=False, write_statistics=ordered
        ) as writer:
            for batch in batches:
                arrays = [arrow_array(pa, batch[column.name], column.type) for column in table.columns]
                made = pa.Table.from_arrays(arrays, schema=schema)
                if len(made):
                    writer.write_table(made, row_group_size=4 * ROWS)
                    rows += len(made)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return rows


def arrow_type(pa: Any, type: Type) -> pyarrow.DataType:
    """What a type of the schema is in Arrow."""
    return _TYPES[type](pa)


_TYPES: Final[dict[str, Any]] = {
    "int32": lambda pa: pa.int32(),
    "int64": lambda pa: pa.int64(),
    "double": lambda pa: pa.float64(),
    "bool": lambda pa: pa.bool_(),
    "text": lambda pa: pa.dictionary(pa.int32(), pa.string()),
    "moment": lambda pa: pa.timestamp("us"),
    "texts": lambda pa: pa.list_(pa.string()),
    "lengths": lambda pa: pa.list_(pa.int64()),
}


_ORDERED: Final[frozenset[Type]] = frozenset({"int32", "int64", "bool", "text", "moment"})
"""Types of which each two values are less, equal or greater, as NaN and lists are not."""


def arrow_array(pa: Any, values: Values, type: Type) -> pyarrow.Array:
    """A column of a batch, without a look at each row where it comes of NumPy."""
    made = arrow_type(pa, type)
    if isinstance(values, Coded):
        used = np.flatnonzero(np.bincount(values.numbers.astype(np.intp), minlength=len(values.entries)))
        places = np.zeros(len(values.entries), np.int32)
        places[used] = np.arange(len(used))
        numbers = places[values.numbers]
        if type != "text":
            return pa.array([values.entries[place] for place in used.tolist()], made).take(pa.array(numbers))
        is_null = np.array([values.entries[place] is None for place in used.tolist()], bool)
        texts = pa.array([values.entries[place] or "" for place in used.tolist()], pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(numbers, mask=is_null[numbers]), texts)
    if type == "text":
        return pa.array(values, pa.string()).dictionary_encode().cast(made)
    if isinstance(values, np.ma.MaskedArray):
        return pa.array(values.data.astype(_PLAIN.get(type, values.dtype)), made, mask=np.ma.getmaskarray(values))
    if isinstance(values, np.ndarray):
        return pa.array(values.astype(_PLAIN.get(type, values.dtype)), made)
    return pa.array(values, made)


_PLAIN: Final[dict[str, np.dtype]] = {
    "int32": np.dtype("i4"),
    "int64": np.dtype("i8"),
    "double": np.dtype("f8"),
    "moment": np.dtype("i8"),
}
