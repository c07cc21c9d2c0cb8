"""What a framework's compiler did, as a table: regions and how often they ran, breaks, and why it compiled again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.debugger.results import Cell, TableResult
from graphscope.diagnose.text_lines import counted
from graphscope.eventlog.names import place_of, short_place

if TYPE_CHECKING:
    from graphscope.debugger.debugger import Debugger
    from graphscope.eventlog.reader import Log
    from graphscope.graph.compilation import Compilation, CompilerEvent, FailedGuard

_WORDS: Final = {"break": "graph break", "skipped": "not compiled"}


def compiler_table(dbg: Debugger) -> TableResult:
    """What the compiler did up to the end of what is recorded."""
    from graphscope.graph.compilation import compilation  # few programs compile

    log = dbg.log
    log.refresh()
    found = compilation(log)
    rows = tuple(_row(log, found, each) for each in found.events)
    note = "" if rows or found.regions else _nothing(log)
    return TableResult(("row", "what", "function", "line", "compilation", "why"), rows, note=note, wrap=True)


def _row(log: Log, found: Compilation, event: CompilerEvent) -> tuple[Cell, ...]:
    what = _WORDS.get(event.event, "compiled again" if event.failed else "compiled")
    line = short_place(*place_of(log.site(event.site)))
    return f"#{event.row}", what, event.function, line, event.compilation, _why(log, found, event)


def _why(log: Log, found: Compilation, event: CompilerEvent) -> str:
    if event.event == "break":
        return ": ".join(filter(None, (event.title, event.explanation)))
    failed = _guard(log, event.failed[0]) if event.failed else ""
    if len(event.failed) > 1:
        failed += f", nor one of the guards of {counted(len(event.failed) - 1, 'earlier compilation')}"
    if event.event == "skipped":
        return "; ".join(filter(None, (event.title, failed)))
    ran = sum(len(each.rows) for each in found.regions_of(event))
    runs = f"ran {_times(ran)} from #{found.regions_of(event)[0].rows[0]} on" if ran else "did not run"
    return "; ".join(filter(None, (failed, f"{counted(event.calls, 'call')}, {counted(event.guards, 'guard')}", runs)))


def _guard(log: Log, failed: FailedGuard) -> str:
    line = short_place(*place_of(log.site(failed.site)))
    return f"`{failed.guard}` of {failed.compilation} does not hold{f' ({line})' if line else ''}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _nothing(log: Log) -> str:
    if log.metadata.get("capture") == "compiled":
        return "Nothing was compiled"
    return "Nothing is told of a compiler: record with `--capture compiled`"
