"""The table of commands, and how a command's arguments are read from text by its signature."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NoReturn, TypeVar, get_args, get_type_hints

from graphscope.errors import CommandError, EngineError

if TYPE_CHECKING:
    from graphscope.debugger.results import Result

Rest = Annotated[str, "rest"]
"""The rest of the line, as it was typed."""

Block = Annotated[tuple[str, ...], "block"]
"""Lines that follow the command, up to a line `end`."""

Group = Literal["stepping", "breakpoints", "looking", "values", "tensors", "python", "session"]

Needs = Literal["log", "edge", "run"]
"""Who carries a command out when the program is another process: whoever has the log; where one stands at the live
edge, the program, for the names of its frames; or, because it may run on, the program wherever one stands."""

GROUPS: Final[tuple[str, ...]] = get_args(Group)
"""What commands are about, in the order of help."""

_Function = TypeVar("_Function", bound="Callable[..., Result]")
_NUMBER = re.compile(r"[+-]?\d+")
_FLAG = re.compile(r"--?[A-Za-z][\w-]*")


@dataclass(frozen=True)
class Flag:
    """Other spellings of a keyword-only parameter, beside `--its_name`."""

    spellings: tuple[str, ...]

    def __init__(self, *spellings: str) -> None:
        object.__setattr__(self, "spellings", spellings)


@dataclass(frozen=True)
class Command:
    """A verb of the debugger."""

    name: str
    aliases: tuple[str, ...]
    group: Group
    function: Callable[..., Result] = field(repr=False)
    needs: Needs = "log"
    dap: str = ""
    """The request of the Debug Adapter Protocol that means it, if there is one."""
    key: str = ""
    """The key that means it, without arguments, on a screen that has keys; empty when it has none."""
    to_file: bool = False
    """Whether `> FILE` behind its arguments writes what it says to a file, as in tfdbg."""

    @property
    def doc(self) -> str:
        """What it does: the docstring of its function."""
        return inspect.getdoc(self.function) or ""

    @property
    def title(self) -> str:
        """Its name with the abbreviation marked, as pdb writes it: `n(ext)`."""
        short = next((alias for alias in self.aliases if self.name.startswith(alias)), "")
        return f"{short}({self.name[len(short) :]})" if short else self.name

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters behind the debugger."""
        hints = get_type_hints(self.function, include_extras=True)
        signature = inspect.signature(self.function)
        return tuple(Parameter(found, hints[found.name]) for found in list(signature.parameters.values())[1:])

    @property
    def usage(self) -> str:
        """Its name and arguments: `break [SPEC]`."""
        parts = [self.title, *(parameter.usage for parameter in self.parameters)]
        return " ".join([*parts, "[> FILE]"] if self.to_file else parts)

    @property
    def takes_block(self) -> bool:
        """Whether lines up to `end` belong to it."""
        return any(parameter.role == "block" for parameter in self.parameters)


class Parameter:
    """One parameter of a command, and how it reads text."""

    def __init__(self, parameter: inspect.Parameter, hint: Any) -> None:
        extras = getattr(hint, "__metadata__", ())
        self.name = parameter.name
        self.type = getattr(hint, "__origin__", hint) if extras else hint
        self.default = parameter.default
        self.several = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        self.is_flag = parameter.kind is inspect.Parameter.KEYWORD_ONLY
        self.role = next((extra for extra in extras if isinstance(extra, str)), "word")
        spellings = next((extra.spellings for extra in extras if isinstance(extra, Flag)), ())
        self.spellings = (*spellings, f"--{self.name}") if self.is_flag else ()

    @property
    def required(self) -> bool:
        """Whether the command can't do without it."""
        return self.default is inspect.Parameter.empty and not self.several

    @property
    def usage(self) -> str:
        """How it is written in a line of help."""
        shown = self.name.upper()
        if self.role == "block":
            return "... end"
        if self.is_flag:
            return f"[{self.spellings[0]}]" if self.type is bool else f"[{self.spellings[0]} {shown}]"
        if self.several:
            return f"[{shown} ...]"
        return shown if self.required else f"[{shown}]"

    def read(self, command: Command, text: str) -> object:
        """The typed argument that a word of text stands for."""
        if self.type is not int:
            return text
        number = text.removeprefix("#")
        if not _NUMBER.fullmatch(number):
            raise CommandError(f"`{command.name}` takes a whole number as {self.name}, not {text!r}", command.usage)
        return int(number)


COMMANDS: Final[dict[str, Command]] = {}
"""Every command by its name; `find` also knows the aliases."""

_ALIASES: Final[dict[str, str]] = {}

ELSEWHERE: Final[dict[str, str]] = dict.fromkeys(("check", "invoke", "replay"), "graphscope.static.replay.commands")
"""Commands whose module is loaded when their word is first said: they need the engine, which reading a log does not."""


def command(
    name: str,
    *aliases: str,
    group: Group,
    needs: Needs = "log",
    dap: str = "",
    key: str = "",
    to_file: bool = False,
) -> Callable[[_Function], _Function]:
    """Enter a function into the table; its docstring is its help and its signature says what it takes."""

    def enter(function: _Function) -> _Function:
        COMMANDS[name] = Command(name, aliases, group, function, needs, dap, key, to_file)
        _ALIASES.update(dict.fromkeys(aliases, name))
        return function

    return enter


def find(word: str) -> Command | None:
    """The command of this name or alias."""
    if word in ELSEWHERE and word not in COMMANDS:
        try:
            import_module(ELSEWHERE[word])
        except EngineError as error:
            return _refused(word, error)
    return COMMANDS.get(_ALIASES.get(word, word))


def _refused(word: str, error: EngineError) -> Command:
    """A command that can't be had here, and says why."""

    def refuse(dbg: object, text: Rest = "") -> NoReturn:
        raise error

    return Command(word, (), "values", refuse)


def words() -> list[str]:
    """All names and aliases."""
    return sorted({*COMMANDS, *_ALIASES, *ELSEWHERE})


def every() -> list[Command]:
    """All commands, those whose modules are not loaded yet among them."""
    for word in ELSEWHERE:
        find(word)
    return list(COMMANDS.values())


def bind(command: Command, text: str, block: Sequence[str] = ()) -> tuple[list[object], dict[str, object]]:
    """The positional and keyword arguments that a line of text means for a command.

    Raises:
        CommandError: An argument is missing, too much, or of the wrong type.
    """
    flags = {spelling: parameter for parameter in command.parameters for spelling in parameter.spellings}
    keywords, rest = _take_flags(command, flags, text) if flags else ({}, text.strip())
    arguments: list[object] = []
    for parameter in command.parameters:
        if parameter.is_flag:
            continue
        if parameter.role == "block":
            arguments.append(tuple(block))
        elif parameter.role == "rest":
            if parameter.required and not rest:
                raise CommandError(f"`{command.name}` needs {parameter.name.upper()}", command.usage)
            arguments.append(rest)
            rest = ""
        elif parameter.several:
            arguments.extend(parameter.read(command, word) for word in rest.replace(",", " ").split())
            rest = ""
        elif rest:
            word, _, rest = rest.partition(" ")
            arguments.append(parameter.read(command, word))
            rest = rest.strip()
        elif parameter.required:
            raise CommandError(f"`{command.name}` needs {parameter.name.upper()}", command.usage)
        else:
            arguments.append(parameter.default)
    if rest:
        raise CommandError(f"`{command.name}` does not know what to do with {rest!r}", command.usage)
    return arguments, keywords


def _take_flags(command: Command, flags: dict[str, Parameter], text: str) -> tuple[dict[str, object], str]:
    """The flags of a line, and the line without them."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise CommandError(f"`{command.name}` can't read {text!r}: {error}", "close the quotation mark") from None
    found: dict[str, object] = {}
    rest: list[str] = []
    while words:
        word = words.pop(0)
        if not _FLAG.fullmatch(word):
            rest.append(word)
        elif word not in flags:
            raise CommandError(f"`{command.name}` has no flag {word}", command.usage)
        elif flags[word].type is bool:
            found[flags[word].name] = True
        elif words:
            found[flags[word].name] = flags[word].read(command, words.pop(0))
        else:
            raise CommandError(f"`{command.name} {word}` needs a value", command.usage)
    return found, " ".join(rest)
