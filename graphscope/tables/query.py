"""SQL over logs, or over tables that were written: DuckDB reads them."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from graphscope.errors import ExportError, UsageError
from graphscope.tables.export import ABOUT, about, export_tables
from graphscope.tables.needs import needed
from graphscope.tables.schema import PARTITIONS, SCHEMA


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query gives."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    is_whole: bool
    """Whether these are all rows; of a longer answer they are the first."""


MOST: Final = 1000
"""So many rows of an answer are given."""


def query(places: Sequence[Path], sql: str) -> Answer:
    """Ask SQL of the tables `nodes`, `edges`, `values` and so on.

    Args:
        places: Logs, of which the tables that the query names are written to a folder that goes away; or one folder
            of tables.
        sql: One query.

    Raises:
        ExportError: DuckDB or pyarrow is missing, or a folder holds no tables, or the wrong ones.
        LogError: One of the places is no log.
        UsageError: The query can't be run.
    """
    duckdb = needed("duckdb")
    with duckdb.connect() as connection:
        wanted = _named(sql)
        if any((place / ABOUT).exists() for place in places):
            if len(places) > 1:
                raise UsageError("one folder of tables is asked at a time", "export the logs into one folder")
            about(places[0])
            return _answer(duckdb, connection, places[0], wanted, sql)
        with tempfile.TemporaryDirectory(prefix="graphscope-") as folder:
            export_tables(places, Path(folder), wanted)
            return _answer(duckdb, connection, Path(folder), wanted, sql)


def _named(sql: str) -> list[str]:
    """The tables of ours that a query may name: whose name is a word of it. One too many costs time alone."""
    words = set(re.findall(r"\w+", sql.lower()))
    return [table.name for table in SCHEMA if table.name in words]


def _answer(duckdb: Any, connection: Any, folder: Path, names: Sequence[str], sql: str) -> Answer:
    for name in names:
        _see(duckdb, connection, folder, name)
    try:
        if len(duckdb.extract_statements(sql)) > 1:
            raise UsageError("these are several queries", "ask them one at a time")
        found = connection.execute(sql)
        rows = found.fetchmany(MOST + 1)
        return Answer(tuple(each[0] for each in found.description or ()), rows[:MOST], len(rows) <= MOST)
    except duckdb.Error as error:
        raise _not_run(error) from error


def _see(duckdb: Any, connection: Any, folder: Path, name: str) -> None:
    """Let a table of a folder be one of DuckDB's.

    Raises:
        ExportError: The folder has no such table, or another of that name.
    """
    files = str(folder / name / "*" / "*" / "*.parquet").replace("'", "''")
    types = ", ".join(f"{each.name}: {'VARCHAR' if each.type == 'text' else 'INTEGER'}" for each in PARTITIONS)
    source = f"read_parquet('{files}', hive_partitioning = true, hive_types = {{{types}}})"
    columns = {column.name for table in SCHEMA if table.name == name for column in table.columns}
    try:
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM {source}")  # noqa: S608 - a name of the schema, quoted
        missing = columns - {each[0] for each in connection.execute(f"DESCRIBE {name}").fetchall()}
    except duckdb.Error as error:
        raise ExportError(f"the table {name} in {folder} can't be read ({_first(error)})", _AGAIN) from error
    if missing:
        raise ExportError(f"the table {name} in {folder} has no column {', '.join(sorted(missing))}", _AGAIN)


_AGAIN = "export the logs again, into a new folder"


def _not_run(error: Exception) -> UsageError:
    tables = ", ".join(table.name for table in SCHEMA)
    return UsageError(f"the query can't be run: {_first(error)}", f"the tables are {tables}; docs/reference/tables.md")


def _first(error: Exception) -> str:
    """What DuckDB says, without the query again."""
    return " ".join(str(error).partition("\n\n")[0].split())
