"""Writes the pages of this folder from the tables: `python docs/reference` (a test says when they are out of date)."""

from __future__ import annotations

import argparse
import inspect
import io
import json
import operator
import re
import sys
import textwrap
import tokenize
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from pkgutil import resolve_name
from typing import Final

import numpy as np
from textual.binding import Binding

from graphscope.exporters.options import Option
from graphscope.mcp.reading import READING
from graphscope.mcp.running import RUNNING
from graphscope.tables.schema import FORMAT, PARTITIONS, SCHEMA, TYPES, Column

HERE: Final = Path(__file__).parent
NAMES: Final = HERE.parents[1] / "graphscope" / "engine" / "assets" / "torch_names.json"
NOTE: Final = "<!-- Made from the tables by `make docs`; edit the docstrings, not this page. -->"


def command_line() -> str:
    """Every sub-command with its options."""
    from graphscope.cli import COMMANDS
    from graphscope.cli.parser import Parser

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
            if action.dest != "help" and action.help != argparse.SUPPRESS
        ]
        parts += ["", f"## graphscope {name}", "", f"    {usage}", "", inspect.getdoc(command) or ""]
        parts += ["", *table(("argument", "what it says"), rows)]
    return page(parts)


def commands() -> str:
    """Every command of the debugger."""
    import graphscope.console.console
    import graphscope.debugger.commands  # noqa: F401 (fills the table)
    from graphscope.debugger.command_table import GROUPS, every

    parts = ["# Commands of the debugger", ""]
    for group in GROUPS:
        parts += [f"## {group.capitalize()}", ""]
        for command in sorted(every(), key=lambda command: command.name):
            if command.group == group:
                also = f" (also {listed(command.aliases)})" if command.aliases else ""
                parts += [f"### `{command.usage}`{also}", "", command.doc, ""]
    return page(parts)


def screen() -> str:
    """Every region of the terminal UI, every panel and every key."""
    from graphscope.tui import key_table
    from graphscope.tui.inspector.panel_table import every
    from graphscope.tui.region_table import REGIONS

    parts = [
        "# The screen",
        "",
        "What `?` says on the screen of `graphscope open` and `debug`; keys of a region mean something there alone.",
        "Names are for `~/.config/graphscope/keys.toml`. [How to look around](../how-to/terminal-ui.md).",
    ]
    for region in REGIONS:
        parts += ["", f"## {region.title}", "", region.doc, *(["", region.mouse] if region.mouse else [])]
        parts += ["", *_keys(region.keys)] if region.keys else []
    parts += ["", "## Panels of the inspector", ""]
    parts += table(("key", "panel", "shows"), [(f"`{each.key}`", each.name, each.doc) for each in every()])
    return page([*parts, "", "## Keys everywhere", "", *_keys([*key_table.OF_COMMANDS, *key_table.OF_SCREEN])])


def _keys(bindings: Iterable[Binding]) -> list[str]:
    """A table of keys."""
    rows = [
        (listed(each.key.split(",") if "," in each.key else [each.key_display or each.key]),
         (each.tooltip or each.description).removesuffix("."), f"`{each.id}`")
        for each in bindings
    ]  # fmt: skip
    return table(("key", "does", "name"), rows)


def exporters() -> str:
    """Every exporter with its options."""
    import graphscope.exporters  # noqa: F401 (fills the table)
    from graphscope.exporters.registry import EXPORTERS
    from graphscope.exporters.views import VIEWS

    parts = [
        "# Exporters",
        "",
        "`graphscope export LOG -o FILE`, `gs.export(thing, FILE)`: the ending of FILE says which.",
    ]
    for entry in EXPORTERS.values():
        parts += ["", f"## {entry.name} (`{entry.suffix}`)", "", entry.doc, *_options(entry.options)]
    parts += [
        "",
        "# Views",
        "",
        '`--view NAME`, `view="NAME"`: what is drawn. [Pictures of each](../how-to/pictures.md).',
    ]
    for drawn in VIEWS.values():
        parts += ["", f"## --view {drawn.name}", "", drawn.doc, *_options(drawn.options)]
    return page(parts)


def _options(options: Iterable[Option]) -> list[str]:
    """A table of what can be asked of an exporter or a view."""
    rows = [
        (
            f"`--{option.name.replace('_', '-')}`",
            choices(option.choices) or option.type.__name__,
            f"`{option.default}`",
            option.doc,
        )
        for option in options
    ]
    return ["", *table(("option", "type", "default", "what it does"), rows)] if rows else []


def checks() -> str:
    """Every check, with what it reads and a program that has it."""
    from graphscope.diagnose.check_table import PARTS, every

    parts = [
        "# Checks",
        "",
        "What may be wrong with a run. `graphscope doctor` and `gs.doctor` ask every check of this table; `why`, `y`",
        "on the screen, `gs.explain`, `graphscope summary` and editors ask some of them; `b NAME` stops where a check",
        "finds something, `b finding` where any does. Entry points of other packages, in the group",
        "`graphscope.checks`, add to it. [How to ask the doctor](../how-to/doctor.md).",
        "",
        *table(("part of a log", "what it is"), [(f"`{part}`", what) for part, what in PARTS.items()]),
    ]
    for _, check in sorted(every().items()):
        stops = _STOPS[check.shows].format(check.name)
        parts += ["", f"## {check.name}: {check.title}", "", f"{check.doc}. {stops}", ""]
        level = f", recorded with `--capture {check.capture}`" if check.capture == "compiled" else ""
        parts += [f"Reads {listed(check.reads)}. A program that has it{level}:", "", *indented(check.sample)]
        parts += ["", "And one that has not:", "", *indented(check.healthy)]
    return page(parts)


_STOPS = {
    "node": "Stop there: `b {}`.",
    "pass": "Stop behind the backward pass: `b {}`.",
    "run": "Stop at the end of the training step that shows it: `b finding:{}`.",
    "end": "Stop when the program has ended: `b finding:{}`.",
}


def indented(program: str) -> list[str]:
    """A program as a block of code."""
    return textwrap.indent(textwrap.dedent(program).strip(), "    ").splitlines()


def ops() -> str:
    """Every op of the engine."""
    import graphscope.engine  # noqa: F401 (fills the table)
    from graphscope.engine.core.op import OPS

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


def tables() -> str:
    """Every table of `graphscope export --format parquet`, with its columns."""

    def columns(found: Iterable[Column]) -> list[str]:
        rows = [(f"`{each.name}`", each.type, each.unit, each.doc) for each in found]
        return table(("column", "type", "unit", "what it is"), rows)

    parts = [
        "# Tables for query engines",
        "",
        f"What `graphscope export LOG... -o DIR --format parquet` writes: format {FORMAT}.",
    ]
    parts += ["[How to ask them](../how-to/query.md). Any column may be null where the log does not say.", ""]
    parts += [*table(("type", "what it is"), [(name, doc) for name, doc in TYPES.items()]), ""]
    parts += [
        "Every table has two columns more, which engines read off the names of its folders:",
        "",
        *columns(PARTITIONS),
    ]
    for each in SCHEMA:
        parts += ["", f"## {each.name}", "", each.doc, "", *columns(each.columns)]
    return page(parts)


def tools() -> str:
    """Every tool of `graphscope mcp`."""
    parts = ["# Tools of `graphscope mcp`", "", "[How to let a program debug a program](../how-to/mcp.md)."]
    for title, found in (("Reading logs", READING), ("Running programs, with `--run`", RUNNING)):
        parts += ["", f"## {title}"]
        for tool in found:
            parameters = list(inspect.signature(tool).parameters.values())[1:]
            shown = ", ".join(
                f"{each.name}: {each.annotation}{'' if each.default is each.empty else f' = {each.default!r}'}"
                for each in parameters
            )
            parts += ["", f"### {tool.__name__}", "", f"`{tool.__name__}({shown})`", "", inspect.getdoc(tool) or ""]
    return page(parts)


HERE_AS: Final = {
    "torch": "graphscope",
    "torch.Tensor": "graphscope.engine.core.tensor.Tensor",
    **{f"torch.{name}": f"graphscope.{name}" for name in ("linalg", "special", "fft", "autograd", "optim", "nn")},
    **{f"torch.nn.{name}": f"graphscope.nn.{name}" for name in ("functional", "init", "utils")},
    "torch.optim.lr_scheduler": "graphscope.optim.lr_scheduler",
    "torch.utils.data": "graphscope.utils.data",
}
"""Where the names of each of PyTorch's modules are here."""
NOT_AIMED_AT: Final = {
    "sparse and nested tensors": """
        *sparse* *coalesce* *_coo* *_csr* *_csc* *_bsr* *_bsc* ccol_* col_indices* crow_* row_indices*
        dense_dim dsmm hsmm hspmm smm spmm saddmm sspaddmm indices* values* *nested* *padded_tensor to_dense
    """,
    "quantized numbers": """
        *quantize* q_* int_repr is_quantized fake_* fused_moving* choose_qparams* *_int8* fbgemm* scaled_mm
        scaled_grouped_mm grouped_mm
    """,
    "other devices and their kernels": """
        cudnn_* miopen_* mkldnn_* *_mkldnn *ipu* *maia* *mtia* *vulkan* *xla* *xpu* *cuda_* batch_norm_*
        record_stream is_storage *pin_memory* is_pinned share_memory_ is_shared get_device_module
    """,
    "automatic mixed precision": """
        *autocast*
    """,
    "compilation, export and symbolic shapes": """
        compile* cond while_loop sym_* parse_* import_ir* fork wait merge_type* unify_type* *_cudagraph*
        is_vulkan* torch_* get_file_path prepare_multi* export* classproperty typename
    """,
    "PyTorch's own internals": """
        *_copy *_copy_ native_* unsafe_* *_jit* init_num_threads are_determin* *determinis* *warn_always*
        rnn_* lstm gru *_cell gru_cell lstm_cell norm_except_dim alias_* segment_* hash_tensor
        thread_safe_generator resolve_* to_dlpack from_dlpack as_subclass *storage* module_load names *_names
        rename* refine_names align_* has_names is_distributed volatile const_data_ptr dim_order grad_dtype
        map_ map2_ apply_ untyped_storage reinforce resize* set_ is_set_to register_post* set_data from_file
    """,
}
"""What this engine does not try to be, and the names that belong to it."""


def coverage() -> str:
    """What PyTorch has, and what of it is here."""
    known = json.loads(NAMES.read_text(encoding="utf-8"))
    parts = [
        "# Coverage of PyTorch",
        "",
        f"The public names of PyTorch {known['version']}, and which of them are here.",
        "What ops compute is held to PyTorch's results by the tests.",
        "",
    ]
    rows, details = [], []
    for module, names in known["names"].items():
        aimed_at = [name for name in names if outside(name) is None]
        here = {name for name in aimed_at if is_here(module, name)}
        rows.append((f"`{module}`", str(len(here)), str(len(aimed_at)), f"{len(here) / len(aimed_at):.0%}"))
        missing = [name for name in aimed_at if name not in here]
        details += ["", f"## {module}", ""]
        details += [f"**Here:** {listed(name for name in aimed_at if name in here) or 'nothing'}.", ""]
        details += [f"**Not here:** {listed(missing) or 'nothing'}."]
    parts += table(("module", "here", "of", ""), rows)
    parts += details
    parts += ["", "## Not aimed at", ""]
    every = sorted({name for names in known["names"].values() for name in names})
    for reason in NOT_AIMED_AT:
        parts += [f"**{reason.capitalize()}:** {listed(name for name in every if outside(name) == reason)}.", ""]
    return page(parts)


def outside(name: str) -> str | None:
    """Why a name is not aimed at; None when it is."""
    for reason, patterns in NOT_AIMED_AT.items():
        if any(fnmatchcase(name, pattern) for pattern in patterns.split()):
            return reason
    return None


def is_here(module: str, name: str) -> bool:
    """Whether we have what PyTorch has under a name."""
    home, _, attribute = f"{HERE_AS[module]}.{name}".rpartition(".")
    try:
        operator.attrgetter(attribute)(resolve_name(home))
    except (ImportError, AttributeError):
        return False
    return True


def schema_of(command: str, package: str = "graphscope.cli") -> Callable[[], str]:
    """The JSON Schema of what `graphscope COMMAND --json` prints."""
    return lambda: (files(package) / "assets" / f"{command}.schema.json").read_text(encoding="utf-8")


SCHEMAS: Final[dict[str, Callable[[], str]]] = {
    "doctor.schema.json": schema_of("doctor", "graphscope.diagnose"),
    "diff.schema.json": schema_of("diff", "graphscope.compare"),
    **{
        f"{name}.schema.json": schema_of(name)
        for name in ("record", "summary", "memory", "export", "ranks", "runs", "query", "pack")
    },
}

PAGES: Final[dict[str, Callable[[], str]]] = {
    "command-line.md": command_line,
    "commands.md": commands,
    "screen.md": screen,
    "exporters.md": exporters,
    "checks.md": checks,
    **SCHEMAS,
    "ops.md": ops,
    "events.md": events,
    "tables.md": tables,
    "tools.md": tools,
    "coverage.md": coverage,
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
    """Write all pages: here, or to the folder that is named."""
    folder = Path(*sys.argv[1:2]) if sys.argv[1:] else HERE
    for name, make in PAGES.items():
        (folder / name).write_text(make(), encoding="utf-8")
        print(folder.name, name, sep="/")


if __name__ == "__main__":
    sys.exit(main())
