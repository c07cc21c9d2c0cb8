"""Writes the pages of this folder from the tables: `python docs/reference` (a test says when they are out of date)."""

from __future__ import annotations

import argparse
import inspect
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Final

import numpy as np

HERE: Final = Path(__file__).parent
NOTE: Final = "<!-- Made from the tables by `make docs`; edit the docstrings, not this page. -->"


def command_line() -> str:
    """Every sub-command with its options."""
    from graphscope.cli import COMMANDS
    from graphscope.cli.arguments import Parser

    parts = ["# Command line", "", "`python -m graphscope` is the same program as `graphscope`."]
    parts += ["Exit status: 0; 1, found something; 2, could not do it; `debug` and `record` pass on the program's own."]
    for name in COMMANDS:
        command = import_module(f"graphscope.cli.{name}")
        parser = Parser(name, command.__doc__ or "")
        command.configure(parser)
        usage = " ".join(parser.format_usage().split()).removeprefix("usage: ")
        rows = [
            (f"`{' '.join(spelling(action))}`", action.help or "")
            for action in parser.declared
            if action.dest != "help"
        ]
        parts += ["", f"## graphscope {name}", "", f"    {usage}", "", inspect.getdoc(command) or ""]
        parts += ["", *table(("argument", "what it says"), rows)]
    return page(parts)


def commands() -> str:
    """Every command of the debugger."""
    import graphscope.console.prompt
    import graphscope.debugger.commands  # noqa: F401 (fills the table)
    from graphscope.debugger.table import COMMANDS, GROUPS

    parts = ["# Commands of the debugger", ""]
    for group in GROUPS:
        parts += [f"## {group.capitalize()}", ""]
        for command in sorted(COMMANDS.values(), key=lambda command: command.name):
            if command.group == group:
                also = f" (also {listed(command.aliases)})" if command.aliases else ""
                parts += [f"### `{command.usage}`{also}", "", command.doc, ""]
    return page(parts)


def exporters() -> str:
    """Every exporter with its options."""
    import graphscope.exporters  # noqa: F401 (fills the table)
    from graphscope.exporters.registry import EXPORTERS

    parts = [
        "# Exporters",
        "",
        "`graphscope export LOG -o FILE`, `gs.export(thing, FILE)`: the ending of FILE says which.",
    ]
    for entry in EXPORTERS.values():
        parts += ["", f"## {entry.name} (`{entry.suffix}`)", "", entry.doc]
        rows = [
            (
                f"`--{option.name.replace('_', '-')}`",
                choices(option.choices) or option.type.__name__,
                f"`{option.default}`",
                option.doc,
            )
            for option in entry.options
        ]
        parts += ["", *table(("option", "type", "default", "what it does"), rows)] if rows else []
    return page(parts)


def ops() -> str:
    """Every op of the engine."""
    import graphscope.engine  # noqa: F401 (fills the table)
    from graphscope.engine.op import OPS

    rows = [
        (f"`{op.name}`", op.doc.partition("\n")[0], f"`{op.formula}`", "<br>".join(map(rule, op.describe()["vjp"])))
        for _, op in sorted(OPS.items())
    ]
    head = "In a rule `g` is the cotangent of the output, `out` the output, `x, y` the inputs."
    return page(["# Ops", "", head, "", *table(("op", "what it does", "formula", "rules, one for each input"), rows)])


def events() -> str:
    """Every kind, flag and field of the event log, with the line that explains it."""
    from graphscope.eventlog import schema

    source = inspect.getsource(schema)
    parts = ["# Events", "", f"Format version {schema.FORMAT}. See [the log format](../explanation/log-format.md).", ""]
    parts += ["## Fields of a row", ""]
    rows = [
        (f"`{name}`", f"`{layout(schema.EVENT[name])}`", remark) for name, remark in remarks(source, schema.EVENT.names)
    ]
    parts += table(("field", "type", "what it is"), rows)
    for title, members in (("Kinds", schema.Kind), ("Flags", schema.Flag)):
        notes = member_docs(source, members.__name__)
        parts += ["", f"## {title}", ""]
        parts += table(
            (title[:-1].lower(), "code", "what it says"),
            [(f"`{m.name}`", str(m.value), notes[m.name]) for m in members],
        )
    parts += ["", "## Tables", ""]
    parts += table(("table", "an entry"), [(f"`{name}`", f"`{entry}`") for name, entry in schema.TABLES.items()])
    return page(parts)


PAGES: Final[dict[str, Callable[[], str]]] = {
    "command-line.md": command_line,
    "commands.md": commands,
    "exporters.md": exporters,
    "ops.md": ops,
    "events.md": events,
}


def page(parts: Iterable[str]) -> str:
    """The lines of a page as its text."""
    return "\n".join([NOTE, "", *parts]).rstrip() + "\n"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """The lines of a table."""
    lines = [head, ("---",) * len(head), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines]


def spelling(action: argparse.Action) -> list[str]:
    """An argument as it is typed."""
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else "")
    shown = str(value or action.dest.upper()) if action.nargs != 0 else ""
    return [word for word in (", ".join(action.option_strings), shown) if word]


def layout(dtype: np.dtype) -> str:
    """A field's type as `.npy` headers write it."""
    return dtype.str if dtype.subdtype is None else f"{dtype.base.str} × {dtype.shape[0]}"


def listed(names: Iterable[str]) -> str:
    """Names as code, with commas."""
    return ", ".join(f"`{name}`" for name in names)


def choices(values: Iterable[object]) -> str:
    """The values that an option can have."""
    return ", ".join(f"`{value}`" for value in values)


def rule(text: str) -> str:
    """A rule on one line of a table; of a longer one, its name."""
    return f"`{text.removeprefix('def ').partition('(')[0]}(...)`" if text.startswith("def ") else f"`{text}`"


def remarks(source: str, names: Iterable[str]) -> list[tuple[str, str]]:
    """The comment behind each field, joined with those on the lines below it."""
    wanted = {f'"{name}"': name for name in names}
    found: dict[str, str] = {}
    current = ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.STRING and token.string in wanted and wanted[token.string] not in found:
            current = wanted[token.string]
            found[current] = ""
        elif (
            token.type == tokenize.COMMENT and current and ("(" in token.line or token.line.lstrip().startswith("#   "))
        ):
            found[current] = f"{found[current]} {token.string.lstrip('# ')}".strip()
    return list(found.items())


def member_docs(source: str, enum: str) -> dict[str, str]:
    """The string below each member of an enumeration; empty where the name says it."""
    body = source[source.index(f"class {enum}(") :]
    body = body[: body.find("\n\n\n")]
    pairs = re.findall(r'^    ([A-Z_]+) = \d+\n(?:    """(.+?)""")?', body, re.MULTILINE | re.DOTALL)
    return {name: " ".join(text.split()) for name, text in pairs}


def main() -> None:
    """Write all pages."""
    for name, make in PAGES.items():
        (HERE / name).write_text(make(), encoding="utf-8")
        print(f"docs/reference/{name}")


if __name__ == "__main__":
    sys.exit(main())
