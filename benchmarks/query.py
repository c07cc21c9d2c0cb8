"""Tables of logs: what exporting ten million rows takes, and what each question of the how-to costs over them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from benchmarks.engines import load
from benchmarks.log import scratch
from benchmarks.results import ROOT, SLOWEST_QUESTION, Measurement

RANKS: Final = 2
ROWS: Final = 5_000_000
"""Of each rank."""
PAGE: Final = ROOT.parent / "docs" / "how-to" / "query.md"


def record(path: Path, rows: int, seed: int) -> None:
    """Record so many rows of a training of a small perceptron; near its end a NaN is born."""
    gs = load("graphscope")
    gs.manual_seed(seed)
    nn = load("graphscope.nn")
    with gs.record(path, values="summary"):
        writer = load("graphscope.eventlog.record").writer
        model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
        optimizer = gs.optim.SGD(model.parameters(), lr=1e-3)
        x = gs.randn(16, 8)
        while writer.end - writer.base < rows:
            optimizer.zero_grad()
            loss = (model(x) - 1.0).square().mean()
            loss.backward()
            optimizer.step()
        gs.tensor([-1.0], requires_grad=True).sqrt().sum().backward()


def measure() -> list[Measurement]:
    """Export them in a process of its own; then ask, in one of DuckDB with two threads, every question twice."""
    with scratch() as folder:
        logs = [folder / f"run-rank{rank}.gscope" for rank in range(RANKS)]
        for rank, log in enumerate(logs):
            record(log, ROWS, rank)
        return [exported("export", logs, folder / "tables"), *asked(folder / "tables")]


def exported(name: str, logs: list[Path], folder: Path) -> Measurement:
    """What exporting logs takes: seconds, of the processor too, and the most memory that it held."""
    program = (
        "import json, resource, sys, time; from graphscope.cli import main; began = time.perf_counter();"
        "status = main(['export', '--format', 'parquet', '-o', *sys.argv[1:]]); took = time.perf_counter() - began;"
        "used = resource.getrusage(resource.RUSAGE_SELF);"
        "print(json.dumps({'status': status, 'seconds': took,"
        " 'seconds, of the processor': used.ru_utime + used.ru_stime, 'bytes, held at most': used.ru_maxrss * 1024}))"
    )
    command = [sys.executable, "-c", program, str(folder), *map(str, logs)]
    output = subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT.parent).stdout
    said = json.loads(output.splitlines()[-1])
    if said.pop("status"):
        raise AssertionError("the export failed")
    files = [file for file in folder.rglob("*") if file.is_file()]
    return Measurement(name, {**said, "bytes, of files": sum(file.stat().st_size for file in files)})


def asked(folder: Path) -> list[Measurement]:
    """What each question takes, the second time that it is asked, and the slowest of them."""
    duckdb = load("duckdb")
    tables = sorted(each.name for each in folder.iterdir() if each.is_dir())
    found = []
    with duckdb.connect(config={"threads": 2}) as connection:
        for table in tables:
            connection.execute(f"CREATE VIEW {table} AS SELECT * FROM '{folder}/{table}/*/*/*.parquet'")
        for title, sql in questions(PAGE.read_text(encoding="utf-8")):
            for _ in range(2):
                began = time.perf_counter()
                connection.execute(sql).fetchall()
                took = time.perf_counter() - began
            found.append(Measurement(title, {"seconds": took}))
    return [*found, Measurement(SLOWEST_QUESTION, {"seconds": max(each.numbers["seconds"] for each in found)})]


def questions(page: str) -> list[tuple[str, str]]:
    """The questions of the how-to with the SQL that answers each."""
    sections = (section.partition("\n") for section in page.split("\n## ")[1:])
    found = ((title, re.search(r"^```sql\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)) for title, _, text in sections)
    return [(title, block[1]) for title, block in found if block is not None]
