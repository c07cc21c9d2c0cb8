"""Draw a log, or write it in another form. The ending of FILE says which."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphscope.cli.json_output import add_json, print_json
from graphscope.cli.logs import every_log
from graphscope.cli.parser import Parser, find_log
from graphscope.cli.whole_logs import look_at, opened
from graphscope.errors import UsageError
from graphscope.exporters.registry import EXPORTERS
from graphscope.exporters.views import VIEWS
from graphscope.exporters.views.view_table import DEFAULT
from graphscope.graph.passes import FOLDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphscope.exporters.options import Option
    from graphscope.exporters.registry import Exporter
    from graphscope.exporters.views import View

TABLES = "parquet"
"""The format that is a folder of tables."""

CHOICE = ("view", "select", "graph_pass", "fold", "step", "at", "radius")
"""What is drawn; how, the exporters themselves declare."""


def configure(parser: Parser) -> None:
    """Declare the arguments: those that choose what is drawn, and the options of all exporters."""
    import graphscope.exporters  # noqa: F401 (fills the table)

    parser.add_argument(
        "logs", nargs="*", type=Path, metavar="LOG",
        help="a log, or a folder: the newest in it, for parquet all of them (default: the newest recording here)",
    )  # fmt: skip
    kinds = ", ".join(entry.suffix for entry in EXPORTERS.values())
    parser.add_argument(
        "-o", dest="out", type=Path, metavar="FILE", help=f"what to write: {kinds}; of parquet a folder"
    )
    parser.add_argument(
        "--passes", type=Path, metavar="DIR", help="draw each pass of a compiler, and a page to go through them"
    )
    parser.add_argument(
        "--format",
        metavar="NAME",
        help="by what exporter, where the ending of FILE does not say so; parquet: tables, for query engines",
    )
    parser.add_argument(
        "--view", choices=tuple(VIEWS), metavar="NAME", help=f"what is drawn: {', '.join(VIEWS)} (default: {DEFAULT})"
    )
    wide = max(map(len, VIEWS)) + 2
    lines = (f"  {name:{wide}}{entry.doc}" for name, entry in VIEWS.items())
    parser.epilog = "\n".join(["views:", *lines])
    parser.add_argument("--select", metavar="SPEC", help="only the nodes that SPEC selects, such as `op:mm forward`")
    parser.add_argument("--pass", dest="graph_pass", choices=("forward", "backward"), help="one pass alone")
    parser.add_argument(
        "--fold",
        action="append",
        type=_fold,
        metavar="repeats|DEPTH|none",
        help="fold loops and equal layers, or modules DEPTH deep, or nothing; by default what it takes to be read",
    )
    steps = parser.add_mutually_exclusive_group()
    steps.add_argument("--step", type=int, metavar="N", help="this training step; by default the newest, or a sick one")
    steps.add_argument(
        "--all", action="store_const", const="all", dest="step", help="all training steps in one picture"
    )
    parser.add_argument("--at", type=int, metavar="N", help="the graph as it was at row N")
    parser.add_argument("--radius", type=int, metavar="R", help="with --select: what lies up to R edges away, too")
    for option, users in _options().values():
        _add(parser, option, users)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Write the file."""
    from graphscope.exporters import export
    from graphscope.exporters.passes import export_passes

    if options.out is None and options.passes is None:
        raise UsageError("say what to write: -o FILE or --passes DIR", "`graphscope export --help` tells of both.")
    if options.passes is not None and (unmeant := [flag for flag, name in _of_one_drawing() if _said(options, name)]):
        raise UsageError(
            f"--passes DIR draws every pass whole, and takes no {' or '.join(unmeant)}",
            "-o FILE draws one graph, and takes all of them; --passes takes --format.",
        )
    if options.format == TABLES and options.passes is None:
        return _write_tables(options)
    if len(options.logs) > 1:
        raise UsageError("one log is drawn at a time", f"--format {TABLES} takes several: it writes tables of them.")
    log = opened(find_log(*options.logs or [None]))
    if options.passes is not None:
        page, *pictures = export_passes(log, options.passes, options.format or "svg")
        _tell(options, f"{page}: {len(pictures)} pictures beside it", {"out": page, "files": [page, *pictures]})
        return 0
    given = {name: getattr(options, name) for name in (*CHOICE, *_options()) if _said(options, name)}
    export(log, options.out, format=options.format, **given)
    size = options.out.stat().st_size
    _tell(options, f"{options.out}: {size:,} bytes", {"out": options.out, "bytes": size})
    return 0


def _tell(options: argparse.Namespace, words: str, data: dict[str, Any]) -> None:
    """Say what was written."""
    if options.json:
        print_json(data)
    else:
        print(words)


def _write_tables(options: argparse.Namespace) -> int:
    """Write the tables of whole logs, of all ranks of each run, and of all that lie in folders."""
    from graphscope.tables import export_tables

    if unmeant := [flag for flag, name in _of_one_drawing() if name != "out" and _said(options, name)]:
        raise UsageError(
            f"--format {TABLES} writes whole logs, and takes no {' or '.join(unmeant)}",
            "`graphscope query` asks for a part of them.",
        )
    logs = [log for named in options.logs or [None] for log in every_log(named)]
    look_at(logs)
    counts = export_tables(logs, options.out)
    words = f"{options.out}: {', '.join(f'{name} {count:,}' for name, count in counts.items())} rows"
    _tell(options, words, {"out": options.out, "rows": counts})
    return 0


def _of_one_drawing() -> Iterator[tuple[str, str]]:
    """The flags that mean something for one drawing alone, each with the name of its value."""
    yield "-o", "out"
    for name in CHOICE:
        yield "--pass" if name == "graph_pass" else f"--{name}", name
    for name in _options():
        yield f"--{name.replace('_', '-')}", name


def _said(options: argparse.Namespace, name: str) -> bool:
    """Whether the person gave an option; none has a default."""
    return getattr(options, name) is not None


def _options() -> dict[str, tuple[Option, list[str]]]:
    """Every option by name, and the exporters that have it."""
    found: dict[str, tuple[Option, list[str]]] = {}
    tables: list[dict[str, Exporter] | dict[str, View]] = [EXPORTERS, VIEWS]
    for name, entry in ((name, entry) for table in tables for name, entry in table.items()):
        for option in entry.options:
            found.setdefault(option.name, (option, []))[1].append(name)
    return found


def _add(parser: Parser, option: Option, users: list[str]) -> None:
    # The default is None throughout, so that an exporter is given only what the person said.
    settings: dict[str, Any] = {"dest": option.name, "default": None, "help": f"{option.doc} ({', '.join(users)})"}
    if option.type is bool:
        settings["action"] = argparse.BooleanOptionalAction
    else:
        settings["type"] = option.type
        settings["metavar"] = option.name.upper()
        if option.choices:
            settings["choices"] = option.choices
            settings["metavar"] = "|".join(map(str, option.choices))
    parser.add_argument(f"--{option.name.replace('_', '-')}", **settings)


def _fold(text: str) -> str | int:
    if text in FOLDS:
        return text
    if text.isdecimal():
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(FOLDS)}, and no depth")
