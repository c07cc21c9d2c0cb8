"""A typed line: parts between `;;`, aliases, and the command that its first word names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from graphscope.debugger.command_table import Command, find, words
from graphscope.errors import CommandError

_PARTS = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(;;)""")
_HEAD = re.compile(r"\s*([A-Za-z_]\w*)(.*)", re.DOTALL)
_PYTHON = re.compile(r"[.(\[]|\s*=(?!=)")
_PARAMETER = re.compile(r"%(\*|[1-9])")
_NODE = re.compile(r"#\d+")
_TO_FILE = re.compile(r"""(?P<text>.*?)(?:^|\s)>\s*(?P<file>"[^"]+"|'[^']+'|[^\s"'<>=]+)\s*""", re.DOTALL)
_DEPTH = 20


def split(line: str) -> list[str]:
    """The commands of a line: `;;` outside quotation marks separates them."""
    parts, start = [], 0
    for found in _PARTS.finditer(line):
        if found[2]:
            parts.append(line[start : found.start()])
            start = found.end()
    parts.append(line[start:])
    return [part.strip() for part in parts]


def expand(line: str, aliases: Mapping[str, str]) -> list[str]:
    """The commands of a line with aliases written out: `%1` is the first argument, `%*` all of them.

    Raises:
        CommandError: An alias leads back to itself.
    """
    ready: list[str] = []
    if line.lstrip().startswith("# "):  # a remark, as a walk through a program may have it; `#12` is a node
        return [""]
    if line.split(maxsplit=1)[:1] == ["alias"]:  # what it gives a name to may hold `;;`
        return [line.strip()]
    waiting = [(part, 0) for part in split(line)]
    while waiting:
        part, depth = waiting.pop(0)
        head = _HEAD.fullmatch(part)
        if head is None or head[1] not in aliases or _PYTHON.match(head[2]):
            ready.append(part)
            continue
        if depth == _DEPTH:
            raise CommandError(f"The alias {head[1]!r} leads back to itself", f"unalias {head[1]}")
        replaced = _fill(aliases[head[1]], head[2].strip())
        waiting[:0] = [(piece, depth + 1) for piece in split(replaced)]
    return ready


def _fill(template: str, arguments: str) -> str:
    if not _PARAMETER.search(template):
        return f"{template} {arguments}".strip()
    given = arguments.split()

    def argument(found: re.Match[str]) -> str:
        if found[1] == "*":
            return arguments
        place = int(found[1])
        if place > len(given):
            raise CommandError(f"The alias needs {place} arguments and got {len(given)}", template)
        return given[place - 1]

    return _PARAMETER.sub(argument, template)


def resolve(line: str) -> tuple[Command | None, str]:
    """The command that a line names and the text behind its name; None when the line is Python.

    A colon ahead says that it is a command, also where the program has a variable of that name.
    """
    text = line.strip().removeprefix(":")
    if text.startswith("?"):
        return find("help"), text[1:]
    if _NODE.fullmatch(text):
        return find("info"), text
    if text.startswith("!"):
        return None, text[1:].strip()
    head = _HEAD.fullmatch(text)
    if head is None:
        return None, text
    word, rest = head.groups()
    found = find(word)
    if found is None or (_PYTHON.match(rest) and rest != "."):
        return None, text
    return found, rest.strip()


def to_file(command: Command, text: str) -> tuple[str, str]:
    """The arguments of a command, and the file behind `>` that what it says goes to; empty where there is none.

    Behind a Python expression `>` may compare: there it means a file only where the expression stands in quotes.
    """
    found = _TO_FILE.fullmatch(text) if command.to_file else None
    if found is None:
        return text, ""
    rest = found["text"].strip()
    if command.needs == "edge" and not (len(rest) > 1 and rest[0] == rest[-1] and rest[0] in "'\""):
        return text, ""
    return rest, found["file"].strip("'\"")


def suggestion(word: str) -> str:
    """A hint for a word that is no command."""
    close = get_close_matches(word, words(), n=1)
    return f"did you mean `{close[0]}`? `help` lists the commands" if close else "`help` lists the commands"
