"""A line that a person typed, carried out: what every screen with a command line calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from graphscope.debugger.breakpoint_checks import words_of_checks
from graphscope.debugger.command_line import resolve, to_file
from graphscope.debugger.command_table import Command, bind, words
from graphscope.debugger.commands import python  # with the package come all commands
from graphscope.debugger.expressions import describe
from graphscope.debugger.python_names import names_in
from graphscope.debugger.result_lines import text_of
from graphscope.debugger.results import Message, Result
from graphscope.errors import CommandError, GraphscopeError
from graphscope.graph.search import names_of, vocabulary

if TYPE_CHECKING:
    from graphscope.debugger.debugger import Debugger
    from graphscope.debugger.recorded_locals import RecordedLocals

_OF_EXPRESSIONS = ("p", "pp", "whatis", "display", "watch", "last", "set", "condition", "!")
_WORDS = ("value", "grad", "inputs", "op", "name", "shape", "dtype", "node", "isnan", "isinf", "np")
_OF_SPECS = ("op:", "name:", "scope:", "line:", "forward", "backward", "leaf")


def wants_block(line: str) -> bool:
    """Whether lines up to `end` belong to a line."""
    found, _ = resolve(line)
    return found is not None and found.takes_block


def run(dbg: Debugger, line: str, block: Sequence[str] = ()) -> Result:
    """Carry out one command (aliases are expanded and `;;` is split before).

    Raises:
        GraphscopeError: It can't be carried out.
    """
    found, text = resolve(line)
    if found is None:
        return (python.execute if line.lstrip().startswith("!") else python.bare)(dbg, text)
    return call(dbg, found, text, block)


def call(dbg: Debugger, command: Command, text: str, block: Sequence[str] = ()) -> Result:
    """Call a command with arguments read from text; behind `>`, the file that what it says is written to."""
    given, file = to_file(command, text)
    arguments, keywords = bind(command, given, block)
    result = command.function(dbg, *arguments, **keywords)
    return _written(result, file) if file else result


def _written(result: Result, file: str) -> Message:
    """Write what a command says to a file."""
    text = text_of(result)
    try:
        Path(file).expanduser().write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise CommandError(f"can't write to {file}: {error.strerror or error}") from None
    return Message(f"{file}: {len(text.splitlines())} lines")


def answer(dbg: Debugger, line: str, block: Sequence[str] = ()) -> Result:
    """As `run`; what can't be carried out is answered with an error message."""
    try:
        return run(dbg, line, block)
    except GraphscopeError as error:
        return Message(error.message, error.hint or "", error=True)
    except Exception as error:  # noqa: BLE001 - a mistake of ours must not end the person's program
        return Message(f"{line.strip()!r} failed inside graphscope: {describe(error)}", "this is a bug", error=True)


def complete(dbg: Debugger, line: str, word: str, recorded: RecordedLocals | None = None) -> list[str]:
    """What a word at the end of a line may become.

    Args:
        dbg: Where one stands; what it has of the program's frame is offered.
        line: The line up to the cursor.
        word: Its end.
        recorded: What the log knows of the variables of the frame, which are offered as well.
    """
    head, _, rest = line.lstrip().partition(" ")
    variables = {*names_in(dbg.program_frame, word), *(name for name in recorded or () if name.startswith(word))}
    if not rest and not line.endswith(" "):
        commands = (found for found in (*words(), *dbg.aliases) if found.startswith(word))
        return [*dict.fromkeys((*commands, *sorted(variables)))]
    found, _ = resolve(head)
    name = found.name if found is not None else "!"
    if name == "help":
        return [known for known in words() if known.startswith(word)]
    if name in _OF_EXPRESSIONS:
        hidden = recorded.owns if recorded is not None else lambda _: False  # what else is called so is not meant
        known = {found for found in names_of(dbg.graph) if not hidden(found)} | {*_WORDS, *variables}
    else:
        known = {*vocabulary(dbg.graph), *_OF_SPECS, *words_of_checks()}
    return sorted(candidate for candidate in known if candidate.startswith(word))
