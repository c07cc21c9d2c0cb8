"""Renders what held a program's memory as tables on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console

from graphscope.cli.memory_report import Report
from graphscope.cli.report_console import report_console
from graphscope.cli.summary_tables import new_table, plain
from graphscope.diagnose.text_lines import wrapped
from graphscope.eventlog.names import short_place
from graphscope.graph.memory import KINDS, Share
from graphscope.graph.quantities import bytes_text


def print_report(facts: Report, most: int | None, console: Console | None = None) -> None:
    """Print all tables, of the long ones so many rows."""
    console = console or report_console()
    if not facts.peak_bytes:
        console.print(plain("no memory was held: the program made no tensor that was seen"))
        return
    where = ", ".join(word for word in (f"#{facts.peak_row}", facts.peak_line, facts.peak_step) if word)
    console.print(plain(f"peak: {bytes_text(facts.peak_bytes)} at {where}"))
    kinds = new_table("held as", "at the peak", "share", "at the end")
    for name, size in facts.kinds.items():
        if size or facts.left[name]:
            share = f"{100 * size / facts.peak_bytes:.0f} %"
            kinds.add_row(KINDS[name], bytes_text(size), share, bytes_text(facts.left[name]))
    console.print(kinds)
    _print_shares(console, f"held at the peak, by {facts.by}", facts.held, most, with_kind=True)
    for finding in facts.kept:
        place = short_place(finding.file, finding.line)
        for text in (f"graph kept: {place}  {finding.verdict}", f"  cure: {finding.cure}"):
            console.print(plain("\n".join(wrapped(text, console.width, ""))))
        console.print()
    total = bytes_text(sum(share.bytes for share in facts.saved))
    if facts.saved:
        title = f"saved for backward, by {facts.by}: {total} in the pass of most"
        _print_shares(console, title, facts.saved, most, with_kind=False)


def _print_shares(console: Console, title: str, found: Sequence[Share], most: int | None, *, with_kind: bool) -> None:
    console.print(plain(title))
    table = new_table("where", "bytes", "storages", "first", second="held as" if with_kind else None)
    for share in found[:most]:
        kind = [KINDS[share.kind]] if with_kind else []
        table.add_row(plain(share.place), *kind, bytes_text(share.bytes), f"{share.count:,}", f"#{share.row}")
    console.print(table)
    rest = found[len(table.rows) :]
    if rest:
        left = bytes_text(sum(share.bytes for share in rest))
        console.print(plain(f"{_INDENT}and {len(rest)} more, {left} (--all shows them)"))


_INDENT: Final = "  "
