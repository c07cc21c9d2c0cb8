"""Measures what a log says of a training program, whichever framework ran it.

`python -m tests.frameworks.judge PROGRAM...` runs each program bare and recorded, and prints a table.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Kind
from graphscope.graph import Graph, Node
from tests.frameworks.referee import bare

NUMBER = re.compile(r"[-+]?\b(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)\b")
CLOSE = 1e-5
NOISE = 1e-7
"""What gradients that cancel out, as that of a bias ahead of a normalisation, may hold in float32."""
SECONDS = 300
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Recording:
    """What recording a program gave."""

    code: int
    output: str
    said: str
    log: Path


@dataclass(frozen=True)
class Measures:
    """Counts of a log's nodes. A share is the first count of the second."""

    forward: int
    backward: int
    tied: int
    """Backward nodes whose links lead to a node of the forward pass."""
    placed: int
    """Nodes at a line of the program's own file, or called from one where they run in a library."""
    direct: int
    """Those of them that are at the line themselves."""
    lines: int
    """Lines of the program that have nodes."""
    readable: int
    """Forward nodes with the values of all their outputs."""


@dataclass(frozen=True)
class Gradient:
    """A gradient in a few numbers."""

    name: str
    sum: float
    norm: float


@dataclass(frozen=True)
class Found:
    """How many of a program's printed gradients a log has."""

    printed: int
    missing: tuple[Gradient, ...]
    """Those that are at no leaf: where a backward pass ends, at a parameter or an input."""
    anywhere: int
    """At any backward node."""
    named: int
    """At a leaf whose name has the words of the printed one."""

    @property
    def at_leaves(self) -> int:
        """How many are at leaves."""
        return self.printed - len(self.missing)


def record(program: Path, log: Path) -> Recording:
    """Run a program under `graphscope record`, in an empty directory."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "graphscope", "record", "--log", str(log), str(program.resolve())]
    with tempfile.TemporaryDirectory() as directory:
        run = subprocess.run(
            command, cwd=directory, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
        )
    return Recording(run.returncode, run.stdout, run.stderr, log)


def difference(output: str, other: str) -> float:
    """The largest difference of printed numbers relative to their size; infinite where the words differ.

    A sum of a gradient is as exact as the gradient's norm is large; numbers below a thousandth count as that.
    """
    if NUMBER.sub("0", output) != NUMBER.sub("0", other):
        return np.inf
    worst = 0.0
    for line, line_of_other in zip(output.splitlines(), other.splitlines(), strict=True):
        numbers, others = ([float(each) for each in NUMBER.findall(text)] for text in (line, line_of_other))
        least = max(abs(numbers[-1]) if line.startswith("grad ") else 0.0, 1e-3)
        for a, b in zip(numbers, others, strict=True):
            if a != b and not (np.isnan(a) and np.isnan(b)):
                worst = max(worst, abs(a - b) / max(abs(a), abs(b), least))
    return worst


def measure(log: Log, program: Path) -> Measures:
    """Count the nodes of a log, and what is known of them."""
    nodes = list(log.graph.nodes)
    backward = [node for node in nodes if _is_backward(node)]
    forward = [node for node in nodes if not _is_backward(node)]
    file = program.resolve()
    lines = [_line(node, log, file) for node in nodes]
    return Measures(
        forward=len(forward),
        backward=len(backward),
        tied=sum(_is_tied(node) for node in backward),
        placed=sum(line is not None for line in lines),
        direct=sum(node.site is not None and Path(node.site.file).resolve() == file for node in nodes),
        lines=len({line for line in lines if line is not None}),
        readable=sum(_is_readable(node) for node in forward),
    )


def printed_gradients(output: str) -> list[Gradient]:
    """The gradients that a program printed."""
    words = [line.split(" ") for line in output.splitlines() if line.startswith("grad ")]
    return [Gradient(name, float(total), float(norm)) for _, name, total, norm in words]


def leaf_gradients(graph: Graph) -> list[Gradient]:
    """The gradients of all leaves as they are at the end of each backward pass."""
    rows = range(graph.log.first, graph.now + 1)
    ends = [row for row in map(int, graph.log.rare()) if row in rows and _kind(graph, row) == Kind.BACKWARD_END]
    backward = [node for node in graph.nodes if _is_backward(node)]
    found = []
    for start, end in pairwise([graph.log.first - 1, *ends, graph.now]):
        made = [node for node in backward if start < node.row <= end]
        through = {node.forward.row for node in made if node.kind == "grad" and node.forward is not None}
        arrived = {node.forward.row: node.forward for node in made if node.kind == "accumulate" and node.forward}
        for row, owner in arrived.items():
            value = graph.at(end).node(row).grad
            if value is not None and (owner.kind == "leaf" or row not in through):
                found.append(_gradient(owner.name, value))
    return found


def compare_gradients(log: Log, output: str) -> Found:
    """Look for a program's printed gradients in its log."""
    printed, leaves = printed_gradients(output), leaf_gradients(log.graph)
    values = [(node.name, node.value) for node in log.graph.nodes if printed and _is_backward(node)]
    others = [_gradient(name, value) for name, value in values if value is not None]
    return Found(
        printed=len(printed),
        missing=tuple(each for each in printed if not any(_equal(each, leaf) for leaf in leaves)),
        anywhere=sum(any(_equal(each, other) for other in (*leaves, *others)) for each in printed),
        named=sum(any(_equal(each, leaf) and _is_named(each, leaf) for leaf in leaves) for each in printed),
    )


def _is_backward(node: Node) -> bool:
    return node.graph_pass == "backward" or node.kind in ("grad", "accumulate")


def _is_tied(node: Node) -> bool:
    owner = node.forward
    while owner is not None and _is_backward(owner):
        owner = owner.forward
    return owner is not None


def _line(node: Node, log: Log, file: Path) -> int | None:
    sites = [node.site] if node.site is None else [node.site, log.site(node.site.caller)]
    return next((site.line for site in sites if site is not None and Path(site.file).resolve() == file), None)


def _is_readable(node: Node) -> bool:
    return all(node.output(slot) is not None for slot in range(len(node.outputs)))


def _kind(graph: Graph, row: int) -> Kind:
    return graph.log.event(row).kind


def _gradient(name: str, value: np.ndarray) -> Gradient:
    if value.dtype.kind not in "biufc":
        return Gradient(name, np.nan, np.nan)
    whole = np.asarray(value, np.complex128 if value.dtype.kind == "c" else np.float64)
    with np.errstate(all="ignore"):
        return Gradient(name, float(np.real(whole.sum())), float(np.linalg.norm(whole)))


def _equal(a: Gradient, b: Gradient) -> bool:
    allowed = max(CLOSE * max(a.norm, b.norm), NOISE)
    return abs(a.sum - b.sum) <= allowed and abs(a.norm - b.norm) <= allowed


def _is_named(printed: Gradient, leaf: Gradient) -> bool:
    words, words_of_leaf = (re.findall(r"\w+", name) for name in (printed.name, leaf.name))
    return bool(words) and words_of_leaf[-len(words) :] == words


def _share(count: int, whole: int) -> str:
    return f"{100 * count / whole:.0f} %" if whole else "-"


def _row(program: Path, log: Path) -> Iterator[str]:
    code, output = bare(program)
    yield program.stem
    try:
        recording = record(program, log)
    except subprocess.TimeoutExpired:
        yield f"more than {SECONDS} s"
        return
    yield "same" if recording.code == code else f"{recording.code}, not {code}"
    yield "same" if recording.output == output else f"{difference(output, recording.output):.1e}"
    if not log.exists():
        yield "no log"
        return
    opened = load(log)
    measures, gradients = measure(opened, program), compare_gradients(opened, recording.output)
    nodes = measures.forward + measures.backward
    yield from (str(measures.forward), str(measures.backward), _share(measures.tied, measures.backward))
    yield from (_share(measures.placed, nodes), _share(measures.direct, nodes), str(measures.lines))
    yield _share(measures.readable, measures.forward)
    yield from (f"{count}/{gradients.printed}" for count in (gradients.at_leaves, gradients.anywhere, gradients.named))


HEADER = ("program", "exit", "output", "forward", "backward", "tied", "at lines", "directly", "lines", "values",
          "gradients", "anywhere", "named")  # fmt: skip


def main() -> None:
    """Print the table of the programs that the command line names."""
    form = "{:24}" + " {:>9}" * (len(HEADER) - 1)
    print(form.format(*HEADER))
    for program in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as directory:
            cells = list(_row(program, Path(directory) / "recorded.gscope"))
        print(form.format(*cells, *[""] * (len(HEADER) - len(cells))), flush=True)


if __name__ == "__main__":
    main()
