"""Requests that set breakpoints: of nodes, of lines, of data, of what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from graphscope.dap.adapter import Adapter, Group
from graphscope.dap.data_breakpoints import watchable
from graphscope.dap.exception_filters import RAISED, filters
from graphscope.dap.line_breakpoints import line_to_stop_at, statements, why_unmet
from graphscope.dap.protocol import Arguments, RequestError
from graphscope.dap.request_table import Body, request
from graphscope.debugger import watches
from graphscope.debugger.breakpoint_checks import ANY
from graphscope.debugger.expressions import parse
from graphscope.diagnose import every
from graphscope.errors import GraphscopeError
from graphscope.graph.select import Line

_PASS = re.compile(r"\s*(forward|backward|before)\b\s*(?:,|\band\b|$)")


@dataclass(frozen=True)
class Wanted:
    """A breakpoint as a client asks for it."""

    spec: str
    condition: str = ""
    when: str = ""
    message: str = ""

    @property
    def text(self) -> str:
        """As a person types it; a pass or `before` ahead of the condition belongs to the SPEC."""
        spec, condition = self.spec, self.condition.strip()
        while (found := _PASS.match(condition)) is not None:
            spec, condition = f"{spec} {found[1]}", condition[found.end() :].strip()
        return f"{spec}, {condition}" if condition else spec


@request(
    "setFunctionBreakpoints",
    "supportsFunctionBreakpoints",
    "supportsConditionalBreakpoints",
    "supportsHitConditionalBreakpoints",
)
async def set_function_breakpoints(adapter: Adapter, arguments: Arguments) -> Body:
    """Stop at the nodes of a SPEC, each."""
    wanted = [_wanted(found.text("name"), found) for found in arguments.objects("breakpoints")]
    return {"breakpoints": _set(adapter, Group("functions"), wanted)}


@request("setBreakpoints", "supportsLogPoints")
async def set_breakpoints(adapter: Adapter, arguments: Arguments) -> Body:
    """Stop at the nodes of lines of a file."""
    source = arguments.object("source")
    path = source.text("path", "") or source.text("name", "")
    if not path:
        raise RequestError("setBreakpoints needs the path of the source")
    lines = arguments.objects("breakpoints")
    if not lines and "lines" in arguments:
        lines = [Arguments("setBreakpoints", {"line": int(line)}) for line in arguments.texts("lines")]
    session = adapter.need_session()
    log, by_line = session.debugger.log, session.debugger.granularity == "line"
    asked = [found.number("line") for found in lines]
    numbers = [line_to_stop_at(log, path, number) or number if by_line else number for number in asked]
    wanted = [_wanted(f'line:"{path}":{line}', found) for line, found in zip(numbers, lines, strict=True)]
    answers = _set(adapter, Group("lines", path), wanted)
    for number, answer in zip(numbers, answers, strict=True):
        answer |= {"line": number, "source": {"path": path}}
        reason = ""
        if by_line and line_to_stop_at(log, path, number) is None:
            reason = "No statement is at this line or behind it"
        elif not session.grows:
            reason = why_unmet(log, Line(path, number))
        if answer["verified"] and reason:
            answer |= {"verified": False, "message": reason}
    return {"breakpoints": answers}


@request("breakpointLocations", "supportsBreakpointLocationsRequest")
async def breakpoint_locations(adapter: Adapter, arguments: Arguments) -> Body:
    """The lines of a range where statements begin."""
    path, first = arguments.object("source").text("path"), arguments.number("line")
    last = arguments.number("endLine", first)
    begins = sorted(set(statements(adapter.need_session().debugger.log, path).values()))
    return {"breakpoints": [{"line": line} for line in begins if first <= line <= last]}


@request("setExceptionBreakpoints", "supportsExceptionFilterOptions")
async def set_exception_breakpoints(adapter: Adapter, arguments: Arguments) -> Body:
    """Stop where something goes wrong."""
    options = {found.text("filterId"): found.text("condition", "") for found in arguments.objects("filterOptions")}
    chosen = dict.fromkeys(arguments.texts("filters"), "") | options
    known = filters()
    unknown = sorted(chosen.keys() - known.keys())
    if unknown:
        raise RequestError(f"There is no exception filter {unknown[0]!r}", f"there is {', '.join(known)}")
    adapter.filters = set(chosen)
    adapter.need_session().debugger.stops_when_raised = RAISED in chosen
    wanted = {name: _fault(known[name].spec, condition) for name, condition in chosen.items() if known[name].spec}
    answers = dict(zip(wanted, _set(adapter, Group("exceptions"), wanted.values()), strict=True))
    adapter.faults = {name: answer["id"] for name, answer in answers.items() if answer["verified"]}
    return {"breakpoints": [answers.get(name, {"verified": True}) for name in chosen]}


@request("dataBreakpointInfo", "supportsDataBreakpoints")
async def data_breakpoint_info(adapter: Adapter, arguments: Arguments) -> Body:
    """Whether one can stop where a variable changes, and what it is that changes then; if not, why."""
    expression, shown = arguments.text("name"), None
    session, frame = adapter.at_frame(arguments)
    if "variablesReference" in arguments:
        opened = adapter.references.get(arguments.number("variablesReference"))
        session, frame, shown = opened.session, opened.frame, opened.told.get(expression)
        expression = opened.expression_of(expression) or expression
    try:
        found = await watchable(session, expression, frame, shown)
    except GraphscopeError as error:
        return {"dataId": None, "description": error.message}
    return {"dataId": found.identity, "description": found.title, "accessTypes": ["write"], "canPersist": False}


@request("setDataBreakpoints")
async def set_data_breakpoints(adapter: Adapter, arguments: Arguments) -> Body:
    """Stop wherever the value or the gradient of a tensor changes."""
    session = adapter.need_session()
    debugger = session.debugger
    wanted = [_changed(found) for found in arguments.objects("breakpoints")]
    kept = adapter.watches
    for each in [each for each in kept if each not in wanted]:
        debugger.watches.pop(kept.pop(each), None)
    answers = []
    for each in wanted:
        if each not in kept:
            try:
                kept[each] = _watched(adapter, each)
            except GraphscopeError as error:
                answers.append({"verified": False, "message": error.message})
                continue
        answers.append({"verified": True, "id": -kept[each]})
    session.changed_setup()
    return {"breakpoints": answers}


def _changed(found: Arguments) -> Wanted:
    return Wanted(found.text("dataId"), found.text("condition", ""), found.text("hitCondition", ""))


def _watched(adapter: Adapter, wanted: Wanted) -> int:
    debugger = adapter.need_session().debugger
    row, _, expression = wanted.spec.partition(":")
    if row and not (row.isascii() and row.isdigit() and len(row) < 19):
        raise RequestError("That dataId was not told by dataBreakpointInfo")
    node = debugger.graph.node(int(row)) if row else None
    return watches.add(debugger, parse(expression), node, condition=wanted.condition, when=wanted.when).number


def _wanted(spec: str, found: Arguments) -> Wanted:
    return Wanted(spec, found.text("condition", ""), found.text("hitCondition", ""), found.text("logMessage", ""))


def _fault(spec: str, condition: str) -> Wanted:
    """A breakpoint of an exception filter; a condition of that for all findings may list the kinds that are wanted."""
    kinds = condition.replace(",", " ").split()
    if spec == ANY and kinds and all(kind in every() for kind in kinds):
        return Wanted(f"{ANY}:{'|'.join(kinds)}")
    return Wanted(spec, condition)


def _set(adapter: Adapter, group: Group, wanted: Iterable[Wanted]) -> list[dict[str, Any]]:
    """Let the breakpoints of a group be these and no others; one that was there before keeps its number and hits."""
    session = adapter.need_session()
    breakpoints = session.debugger.breakpoints
    old, new = adapter.breakpoints.get(group, {}), dict[Hashable, int]()
    there = {found.number for found in breakpoints}
    answers: list[dict[str, Any]] = []
    for each in wanted:
        try:
            number = new.get(each) or old.get(each)
            if number is None or number not in there:
                number = breakpoints.add(each.text, when=each.when, message=each.message).number
            new[each] = number
            answers.append({"id": number, "verified": True})
        except GraphscopeError as error:
            answers.append({"verified": False, "message": str(error).replace("\nhint: ", " - ")})
    for number in set(old.values()) - set(new.values()):
        if number in there:
            breakpoints.remove(number)
    adapter.breakpoints[group] = new
    session.changed_setup()
    return answers
