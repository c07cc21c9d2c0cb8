"""What the sub-commands share of their arguments: the parser, the program to run, the log to read."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from graphscope.errors import UsageError
from graphscope.eventlog.addresses import Address, is_address
from graphscope.eventlog.ownership import NAME

if TYPE_CHECKING:
    from graphscope.cli.runner import Program

SUFFIX = ".gscope"
SCRIPTS: Final = (".py", ".pyw", ".pyz")
_UNITS: Final = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
MODELS: Final = (".onnx", ".pt", ".pt2")


class Parser(argparse.ArgumentParser):
    """The parser of one sub-command; it raises where argparse would print and exit."""

    def __init__(self, command: str, doc: str) -> None:
        self.declared: list[argparse.Action] = []
        """What the sub-command declared, in order."""
        self._takes_program = False
        self._takes_logs = False
        super().__init__(
            prog=f"graphscope {command}",
            description=doc,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def add_argument(self, *names: str, **settings: Any) -> argparse.Action:
        """As argparse has it."""
        action = super().add_argument(*names, **settings)
        self.declared.append(action)
        return action

    def add_program(self) -> None:
        """Let the rest of the command line be a program and its own arguments, as `python` takes them."""
        self._takes_program = True
        self.usage = f"{self.prog} [OPTIONS] (SCRIPT | -m MODULE) [ARGS...]"

    def add_logs_or_program(self) -> None:
        """Let the rest be logs, with options between and behind them, or a program with its own arguments."""
        self.add_argument("logs", nargs="*", type=Path, metavar="LOG", help="default: the newest recording here")
        self._takes_program = self._takes_logs = True
        self.usage = f"{self.prog} [OPTIONS] [LOG ...] | [OPTIONS] (SCRIPT | -m MODULE) [ARGS...]"

    def parse(self, words: list[str]) -> argparse.Namespace:
        """The options; with `add_program`, their `program` is what is to be run; None where logs are given instead.

        Raises:
            UsageError: if the words are not understood.
        """
        if not self._takes_program:
            return self.parse_args(words)
        end = self._options_end(words)
        if self._takes_logs and not _names_program(words[end:]):
            options = self.parse_args(words)
            options.program = None
            return options
        options = self.parse_args(words[:end])
        options.program = self._program(words[end:])
        return options

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments."""
        raise UsageError(message, f"`{self.prog} --help` tells the options.")

    def _options_end(self, words: list[str]) -> int:
        """Where our own options end; argparse would read on in those of the program."""
        valued = {name for action in self.declared if action.nargs != 0 for name in action.option_strings}
        index = 0
        while index < len(words) and words[index].startswith("-") and words[index] != "--":
            if words[index][:2] == "-m":
                break
            index += 2 if words[index] in valued else 1
        return index

    def _program(self, words: list[str]) -> Program:
        from graphscope.cli.runner import Program  # what runs programs is not loaded to look at logs

        first, *rest = words or [""]
        if first == "--":
            first, *rest = rest or [""]
        elif first.startswith("-m"):
            module, *rest = [first[2:], *rest] if first != "-m" else rest or [""]
            if not module:
                raise UsageError("-m needs the name of a module", f"For example: {self.prog} -m package.train")
            return Program(module, tuple(rest), is_module=True)
        if not first:
            raise UsageError("no program to run", f"For example: {self.prog} train.py --epochs 3")
        return Program(first, tuple(rest))


def _names_program(words: list[str]) -> bool:
    """Whether words that may name logs name a program: `-m`, `--`, or a script."""
    if not words or words[0].startswith("-"):
        return bool(words) and words[0][:2] in ("-m", "--")
    script = Path(words[0])
    return script.suffix in SCRIPTS or (script / "__main__.py").is_file()


def add_as_torch(parser: Parser) -> None:
    """Let the command run a program of PyTorch's."""
    parser.add_argument("--as-torch", action="store_true", help="`import torch` in the program means this engine")


def add_kept(parser: Parser, values: str = "full") -> None:
    """Let a person choose what is recorded of a program."""
    from graphscope.eventlog.record import CAPTURES
    from graphscope.eventlog.values import POLICIES

    parser.add_argument(
        "--values", choices=POLICIES, default=values, help=f"what to keep of every value (default: {values})"
    )
    parser.add_argument(
        "--capture", choices=CAPTURES, default="calls+backward",
        help="of a PyTorch program: its calls, what runs backward too, all ops inside of calls, or (compiled) what "
        "torch.compile made as it is",
    )  # fmt: skip


def size(text: str) -> int:
    """A number of bytes as people write it: 4096, 512K, 64M, 2G."""
    unit = text[-1:].upper()
    return int(float(text[:-1]) * _UNITS[unit]) if unit in _UNITS else int(text)


def torch_as_requested(options: argparse.Namespace) -> AbstractContextManager[None]:
    """While the program runs, `import torch` means what the options say."""
    if not options.as_torch:
        return nullcontext()
    from graphscope.engine.torch_imports import as_torch

    return as_torch()


def add_log(parser: argparse.ArgumentParser) -> None:
    """Let the command read a log."""
    parser.add_argument(
        "log", nargs="?", type=Path, metavar="LOG", help="a log, or a folder: the newest in it (default: this one)"
    )


def is_model(path: Path) -> bool:
    """Whether a file is a model of another framework, by its name."""
    return path.suffix in MODELS and path.is_file()


def is_place_of_logs(path: Path) -> bool:
    """Whether a path is a folder that logs may lie in, and is none itself, not even a damaged one."""
    return path.is_dir() and not any((path / part).exists() for part in ("log.json", "segments", NAME))


def find_log(named: Path | None) -> Path:
    """The log to read: the one that is named, else the newest in the folder that is named (the current one).

    Where a run has a log for each rank, and none of the name that all were given, it is that of the first rank.

    Raises:
        UsageError: if it does not exist, or is a model.
    """
    if named is not None and is_address(named):
        return Address(named)
    named = named and as_meant(named)
    if named is not None and not is_place_of_logs(named):
        if not named.exists():
            from graphscope.eventlog.siblings import family

            for rank in (rank for each in _spellings(named) for rank in family(each)):
                return rank
            raise UsageError(f"there is no log {str(named)!r}", "`graphscope record SCRIPT` makes one.")
        if is_model(named):
            recorded = f"{named.stem}{SUFFIX}"
            raise UsageError(f"{str(named)!r} is a model and no log", f"`graphscope open {named}` records {recorded}.")
        return named
    here = named or Path()
    named_so = [*here.glob(f"*{SUFFIX}"), *here.glob(f"*{SUFFIX}.zip")]
    found = [*named_so, *(about.parent for about in here.glob("*/log.json") if about.parent.suffix != SUFFIX)]
    if not found:
        raise UsageError(
            f"there is no recording (*{SUFFIX}) in {str(here.resolve())!r}",
            "`graphscope record SCRIPT` makes one; a log elsewhere can be named.",
        )
    return max(found, key=_written)


def as_meant(named: Path) -> Path:
    """What is there of what a person may mean by a name, a log ahead of a folder of them; the name where nothing is."""
    existing = [each for each in _spellings(named) if each.exists()]
    return min(existing, key=is_place_of_logs, default=named)


def _spellings(named: Path) -> Iterator[Path]:
    """What a person may mean by a name: the log of that name, or the one with a suffix of ours."""
    yield named
    if not named.name:  # `.`, or the root
        return
    yield from (named.with_name(f"{named.name}{ending}") for ending in (SUFFIX, f"{SUFFIX}.zip", ".zip"))
    if named.suffix == SUFFIX:
        yield named.with_suffix("")


def new_log(program: Program) -> Path:
    """Where a program is recorded when nobody says: `train.gscope` in the current folder."""
    stem = program.name if program.is_module else Path(program.name).resolve().stem
    return Path(f"{stem}{SUFFIX}")


def _written(log: Path) -> float:
    """When a log was last begun or finished: a folder's own time changes with its entries only."""
    about = log / "log.json"
    return max(path.stat().st_mtime for path in (log, about) if path.exists())
