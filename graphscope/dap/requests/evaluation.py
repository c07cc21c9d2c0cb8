"""Requests that evaluate: watches, hovers, and lines at the debug console."""

from __future__ import annotations

from typing import Any, Final

from graphscope.dap.adapter import Adapter
from graphscope.dap.exception_filters import filters
from graphscope.dap.protocol import Arguments, RequestError
from graphscope.dap.request_table import Body, request
from graphscope.debugger.result_lines import reason, text_of
from graphscope.debugger.results import Cause, Message
from graphscope.diagnose import every
from graphscope.diagnose.report_lines import lines_of_finding

TYPED: Final = "<"
"""Begins a line at the console that is typed into the terminal of the program."""


@request("evaluate", "supportsEvaluateForHovers", "supportsClipboardContext")
async def evaluate(adapter: Adapter, arguments: Arguments) -> Body:
    """An expression; at the console, Python or a command, or behind `<` a line for the program.

    Where a line is both, as `n` is in a program that has a variable `n`, it is Python; `:n` is the command. In a frame
    that is over, what is known of its variables comes first, whoever asks: some editors hover as if they typed.
    """
    expression, context = arguments.text("expression"), arguments.text("context", "watch")
    if context == "repl" and expression.startswith(TYPED):
        adapter.type(expression.removeprefix(TYPED).removeprefix(" ") + "\n")
        return {"result": "", "variablesReference": 0}
    session, frame = adapter.at_frame(arguments)
    is_of_frame = context == "hover" or ("frameId" in arguments and session.is_recalled(expression, frame))
    if is_of_frame or context != "repl":
        found = await (session.hover if is_of_frame else session.look)(expression, frame)
        made = adapter.references.inside(session, found, frame)
        return {"result": found.text, **({"type": found.type} if found.type else {}), **made}
    if await session.is_of_program(expression, frame):
        expression = f"{'!' if session.waits_here else 'p '}{expression}"
    result = await adapter.carry_out(expression, frame=frame)
    if isinstance(result, Message) and result.error:
        typing = f"`{TYPED} TEXT` types into the program" if session.running else ""
        raise RequestError(result.text, "; ".join(filter(None, (result.hint, typing))) or None)
    return {"result": text_of(result), "variablesReference": 0}


@request("completions", "supportsCompletionsRequest")
async def completions(adapter: Adapter, arguments: Arguments) -> Body:
    """What the word at the cursor may become: its names are those of the frame."""
    session, frame = adapter.at_frame(arguments)
    text, column = arguments.text("text"), arguments.number("column")
    line = text[: max(column - 1, 0)].rsplit("\n", 1)[-1]
    start = len(line)
    while start and (line[start - 1].isalnum() or line[start - 1] in _OF_WORDS):
        start -= 1
    word = line[start:]
    found = await session.complete(line, word, frame)
    return {"targets": [{"label": each, "start": start, "length": len(word)} for each in found[:_MOST]]}


_OF_WORDS: Final = "_:.#*-"
_MOST: Final = 200


_MODES: Final[dict[Cause, str]] = {"exception": "unhandled", "raised": "always"}
"""What the protocol calls the way in which an exception stops a program."""


@request("exceptionInfo", "supportsExceptionInfoRequest", when="stop")
async def exception_info(adapter: Adapter, arguments: Arguments) -> Body:
    """What is wrong where one stands, and why."""
    session, stop = adapter.need_session(), adapter.last_stop
    hit = None if stop is None or stop.breakpoint is None else stop.breakpoint.number
    name = next((name for name, number in adapter.faults.items() if number == hit), "")
    if stop is None or not (stop.cause in _MODES or name):
        raise RequestError("Nothing has failed here")
    if stop.cause in _MODES:
        kind = "" if stop.raised is None else stop.raised.type
        mode = _MODES[stop.cause]
        return {"exceptionId": kind or "exception", "description": reason(stop), "breakMode": mode}
    made: dict[str, Any] = {
        "exceptionId": filters()[name].label,
        "description": "; ".join(stop.notes) or filters()[name].doc,
        "breakMode": "always",
    }
    if stop.findings:
        found = stop.findings[0]
        made["exceptionId"] = every()[found.kind].title
        made["description"] += f"\ncure: {found.cure}" if found.cure else ""
        beyond = _beyond(made["description"], [line.text for line in lines_of_finding(found)])
        made["details"] = {"message": found.verdict, "typeName": found.kind, "stackTrace": beyond}
    if stop.node is None or any(every()[each.kind].is_of_run for each in stop.findings):
        return made
    explained = await session.command("why")
    if not (isinstance(explained, Message) and explained.error):
        beyond = _beyond(made["description"], text_of(explained).splitlines())
        made["details"] = {"message": made["description"], "stackTrace": beyond}
    return made


def _beyond(description: str, lines: list[str]) -> str:
    """What an explanation says that a description above it does not say already."""
    return "\n".join(line for line in lines if line.strip().removeprefix("hint: ").rstrip(".") not in description)
