"""Commands about the debugger itself: help, aliases, the end."""

from __future__ import annotations

from graphscope.debugger.command_line import suggestion
from graphscope.debugger.command_table import GROUPS, Rest, command, every, find
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Ended, Message, TableResult, Tour
from graphscope.errors import CommandError


@command("help", "h", group="session")
def help_(dbg: Debugger, name: str = "") -> Message | TableResult:
    """List the commands, or tell what one does: `help break`."""
    if name:
        found = find(name)
        if found is None:
            raise CommandError(f"There is no command {name!r}", suggestion(name))
        others = [alias for alias in found.aliases if alias not in found.title]
        also = f"\nAlso: {', '.join(others)}" if others else ""
        return Message(f"{found.usage}\n{found.doc}{also}")
    rows = tuple((group, " ".join(entry.title for entry in every() if entry.group == group)) for group in GROUPS)
    return TableResult(
        ("about", "commands"),
        rows,
        note="`help NAME` tells what one does; an empty line repeats the last",
        wrap=True,
    )


@command("tour", group="session")
def tour(dbg: Debugger) -> Tour:
    """Show the first ten keys of the screen, one after another, as on its first day."""
    return Tour()


@command("alias", group="session")
def alias(dbg: Debugger, name: str = "", text: Rest = "") -> Message | TableResult:
    """Give a name to commands: `alias pg p abs(grad).max()`; `%1` stands for the first argument, `%*` for all."""
    if name and text:
        dbg.aliases[name] = text
        return Message(f"{name} = {text}")
    if name and name not in dbg.aliases:
        raise CommandError(f"There is no alias {name!r}", "alias NAME COMMAND makes one")
    rows = tuple((key, value) for key, value in dbg.aliases.items() if name in ("", key))
    return TableResult(("alias", "commands"), rows, note="" if rows else "No aliases; `alias NAME COMMAND` makes one")


@command("unalias", group="session")
def unalias(dbg: Debugger, name: str) -> Message:
    """Forget an alias."""
    if dbg.aliases.pop(name, None) is None:
        raise CommandError(f"There is no alias {name!r}", "alias lists them")
    return Message(f"{name} is no alias any more")


@command("quit", "q", "exit", group="session")
def quit_(dbg: Debugger) -> Ended:
    """Leave the debugger; a program that waits ends with it."""
    return Ended()
