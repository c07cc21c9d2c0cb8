"""Answers of the debugger as the type that a test knows them to have."""

from __future__ import annotations

from graphscope.debugger.debugger import Debugger
from graphscope.debugger.interpreter import run
from graphscope.debugger.results import TableResult


def table(dbg: Debugger, line: str) -> TableResult:
    """Run a command line that answers with a table."""
    found = run(dbg, line)
    assert isinstance(found, TableResult)
    return found
