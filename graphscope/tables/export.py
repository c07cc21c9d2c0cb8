"""Tables of whole logs, in a folder: a folder a table, in it one for each run and rank, in that a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from graphscope._version import __version__
from graphscope.errors import ExportError
from graphscope.eventlog.reader import Log, load
from graphscope.tables import edges, findings, nodes, optimizers, series, sites, statistics, steps, updates
from graphscope.tables.batches import Batch
from graphscope.tables.files import write
from graphscope.tables.needs import needed
from graphscope.tables.runs import parts
from graphscope.tables.schema import BY_NAME, FORMAT

ABOUT: Final = "_graphscope.json"
"""What says that a folder is one of tables, in a file that engines pass over."""

_FILE: Final = "part-0.parquet"

TABLES: Final[dict[str, Callable[[Log], Iterator[Batch]]]] = {
    "nodes": nodes.batches,
    "edges": edges.batches,
    "values": statistics.batches,
    "steps": steps.batches,
    "series": series.batches,
    "sites": sites.batches,
    "optimizers": optimizers.batches,
    "updates": updates.batches,
    "findings": findings.batches,
}
"""What makes the batches of each table of the schema."""


def export_tables(logs: Sequence[Path], folder: Path, names: Collection[str] = tuple(TABLES)) -> dict[str, int]:
    """Write tables of some logs into a folder; how many rows each has then.

    Logs that are in it already are written anew, others stay.

    Args:
        logs: The logs; of several ranks of a run each.
        folder: Where; it is made, or holds tables already.
        names: Which tables.

    Raises:
        ExportError: The folder holds something else, two logs are the same rank of a run, or pyarrow is missing.
        LogError: One of them is no log.
    """
    needed("pyarrow.parquet")
    if folder.exists() and not folder.is_dir():
        raise ExportError(f"{folder} is a file", "tables are a folder: name one that is not there yet")
    if folder.is_dir() and any(folder.iterdir()):
        about(folder)
    placed = parts(logs)
    for part in placed:
        load(part.log)  # what is no log is told ahead of the first that is written
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ABOUT).write_text(json.dumps({"format": FORMAT, "version": __version__}) + "\n", encoding="utf-8")
    counts = dict.fromkeys(names, 0)
    for part in placed:
        log = load(part.log)  # one at a time: a run may have thousands
        for name in names:
            counts[name] += write(folder / name / part.folder / _FILE, BY_NAME[name], TABLES[name](log))
            log.release()
    return counts


def about(folder: Path) -> dict[str, Any]:
    """What the tables in a folder say of themselves.

    Raises:
        ExportError: There are none, or an older or a newer graphscope wrote them.
    """
    try:
        found = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        version = int(found["format"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ExportError(
            f"{folder} holds no tables of graphscope: it has no {ABOUT} that can be read",
            f"graphscope export LOG --format parquet -o {folder} makes them, where {folder} is new or empty",
        ) from error
    if version != FORMAT:
        newer = "install a newer one, or " if version > FORMAT else ""
        raise ExportError(
            f"{folder} holds tables of format {version}, and this graphscope reads and writes {FORMAT}",
            f"{newer}export the logs again into another folder",
        )
    return dict(found)
