"""Commands that run Python in the program."""

from __future__ import annotations

import ast
import builtins
import sys
from typing import Any

from graphscope.debugger import frames, value_results
from graphscope.debugger.command_line import suggestion
from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.commands.printing import evaluate
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.expression_names import WORDS
from graphscope.debugger.expressions import describe
from graphscope.debugger.results import Interact, Message, ValueResult
from graphscope.errors import CommandError


@command("!", "exec", group="python", needs="edge")
def execute(dbg: Debugger, statement: Rest) -> ValueResult | Message:
    """Run a Python statement in the current frame: `!lr = 0.1`. Its names are the program's, never those of the node.

    A line that is no command is run so, too, where the program waits. In the past it is an expression over the log, as
    after `p`, and `!` reaches the program as it is now.
    """
    frame = dbg.program_frame
    if frame is None:
        return _recorded(dbg, statement)
    variables = frame.f_locals
    try:
        try:
            code = compile(statement, "<statement>", "eval")
        except SyntaxError:
            exec(compile(statement, "<statement>", "exec"), frame.f_globals, variables)  # noqa: S102 - a person typed it
            frames.write_back(frame)
            return Message("")
        value = eval(code, frame.f_globals, variables)  # noqa: S307 - a person typed it
        frames.write_back(frame)
    except SyntaxError as error:
        raise _not_understood(statement, error.msg) from None
    except Exception as error:  # noqa: BLE001 - a person's statement may raise anything
        word = statement.strip()
        if isinstance(error, NameError) and word.isidentifier():
            hint = f"`p {word}` speaks of the node" if word in WORDS else suggestion(word)
            raise CommandError(f"{word!r} is no command, and the program has no such name", hint) from None
        raise CommandError(describe(error)) from None
    return Message("") if value is None else value_results.result(statement, value)


def bare(dbg: Debugger, line: str) -> ValueResult | Message:
    """Carry out a line that is no command: in the program where it waits here, else over the log, as after `p`."""
    return execute(dbg, line) if dbg.frame is not None or dbg.program_frame is None else _recorded(dbg, line)


@command("interact", group="python")
def interact(dbg: Debugger) -> Interact:
    """Open a Python prompt over copies of the names of the current frame, and `value`, `grad` and so on."""
    return Interact()


def namespace(dbg: Debugger) -> dict[str, Any]:
    """The names for a Python prompt: the program's, and over them the words that have a meaning here."""
    look = dbg.lookup()
    frame = dbg.frame
    names: dict[str, Any] = {**frame.f_globals, **frame.f_locals} if frame is not None else {}
    for word in ("value", "grad", "inputs", "op", "name", "shape", "dtype", "node", "nodes", "np", "isnan", "isinf"):
        try:
            names[word] = look(word)
        except (CommandError, AttributeError):
            continue
    # Those of the module `site` would close the stream that the debugger goes on reading.
    names["exit"] = names["quit"] = sys.exit
    return names


def _recorded(dbg: Debugger, statement: str) -> ValueResult:
    try:
        ast.parse(statement, mode="eval")
    except SyntaxError as error:
        if dbg.edge is not None and _is_python(statement):
            raise CommandError("A statement runs in the program as it is now", f"!{statement}") from None
        raise _not_understood(statement, error.msg) from None
    try:
        return value_results.result(statement, evaluate(dbg, statement))
    except CommandError as error:
        word = statement.strip()
        if word.isidentifier() and not hasattr(builtins, word) and dbg.edge is None:
            raise CommandError(
                f"{word!r} is no command, and no tensor of the log is called so", suggestion(word)
            ) from None
        raise CommandError(error.message, error.hint) from None


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _not_understood(statement: str, reason: str) -> CommandError:
    word = statement.split(maxsplit=1)[0] if statement.split() else ""
    if word.isidentifier():
        return CommandError(f"{word!r} is no command, and the line no Python statement: {reason}", suggestion(word))
    return CommandError(f"{statement!r} is no Python statement: {reason}", "`help` lists the commands")
