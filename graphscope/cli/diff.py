"""Say where two runs part first: pass, step, op and line on both sides, how far, and why.

Each of A and B is a log, or a script: that is recorded first, as `graphscope record` does it, and compared as far as it
ran. What programs print goes to stderr, the answer alone to stdout. A may be a baseline, too: a small file of what a
run did, which `--save-baseline FILE A` writes. Of runs of as many ranks, rank is compared with rank.

The exit status is 0 when both do the same (up to rounding), 1 when they part, 2 when there was nothing to compare.
"""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphscope.cli.diff_baseline import check, compare_with_baseline, is_baseline, save_baseline
from graphscope.cli.json_output import add_json, print_json
from graphscope.cli.logs import logs_of, with_ranks
from graphscope.cli.parser import SCRIPTS, Parser, add_as_torch, add_kept, new_log
from graphscope.cli.recording import recorded
from graphscope.cli.report_output import print_report
from graphscope.cli.runner import Program
from graphscope.cli.whole_logs import look_at
from graphscope.errors import UsageError
from graphscope.eventlog.siblings import title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphscope.compare import Difference

PARTED: Final = 1
NOTHING_TO_COMPARE: Final = 2


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument("a", nargs="?", metavar="A", help="a log, or a script")
    parser.add_argument("b", nargs="?", metavar="B", help="another, or the same script once more")
    add_json(parser)
    parser.add_argument("--a-args", default="", metavar='"ARGS"', help="arguments for the script A, in one word")
    parser.add_argument("--b-args", default="", metavar='"ARGS"', help="arguments for the script B, in one word")
    parser.add_argument("-o", dest="out", type=Path, metavar="FILE", help="draw where they part, too: .svg, .png, ...")
    parser.add_argument("--exact", action="store_true", help="bit by bit: is the program deterministic?")
    parser.add_argument("--rtol", type=float, metavar="R", help="elements may differ by this part of them, no more")
    parser.add_argument("--atol", type=float, metavar="D", help="elements may differ by so much, no more")
    parser.add_argument(
        "--map", action="append", default=[], metavar="a.X=b.Y", help="what a calls X (a module, a parameter) is b's Y"
    )
    parser.add_argument("--save-baseline", type=Path, metavar="FILE", help="keep what A did in a small FILE")
    parser.add_argument("--screen", action="store_true", help="look at both side by side")
    add_kept(parser)
    add_as_torch(parser)


def run(options: argparse.Namespace) -> int:
    """Print where they part."""
    check(options)
    _check_exact(options)
    if options.save_baseline is not None:
        return save_baseline(options, _log(options.a, options.a_args, "--a-args", options))
    if is_baseline(options.a):
        return compare_with_baseline(options, _log(options.b, options.b_args, "--b-args", options))
    from graphscope.compare import diff

    if options.out is not None:
        from graphscope.exporters.export import check_place, exporter_for

        check_place(options.out, exporter_for(options.out, None))  # so that no program runs in vain
    if options.screen:
        from graphscope.tui.screen_entry import has_terminal

        if not has_terminal():
            raise UsageError("there is no terminal to draw a screen on", "Leave --screen out.")
    names = dict(map(_names, options.map))
    wishes = {"exact": options.exact, "rtol": options.rtol, "atol": options.atol, "names": names}
    found = _told([diff(a, b, **wishes) for a, b in _pairs(*_logs(options))])
    if options.out is not None:
        from graphscope.exporters import export

        export(found, options.out)
    if options.screen and len(found.pairs):
        from graphscope.tui.screen_entry import compare_screen

        compare_screen(found)
    elif options.json:
        print_json(found)
    else:
        from graphscope.compare.report_lines import lines_of

        print_report(lambda width: lines_of(found, width))
    return PARTED if found else NOTHING_TO_COMPARE if not len(found.pairs) else 0


def _check_exact(options: argparse.Namespace) -> None:
    """Refuse what `--exact` leaves no room for, ahead of any run."""
    for given, option in ((options.rtol, "--rtol"), (options.atol, "--atol"), (options.map or None, "--map")):
        if options.exact and given is not None:
            message = f"--exact compares bit by bit and row by row, and {option} has no say in that"
            raise UsageError(message, f"Leave --exact or {option} out.")


def _pairs(a: list[Path], b: list[Path]) -> list[tuple[Path, Path]]:
    """Rank with rank, where both runs have as many."""
    return list(zip(a, b, strict=True)) if len(a) == len(b) else [(a[0], b[0])]


def _told(found: list[Difference]) -> Difference:
    """Of several ranks, the one that parts in the first step."""
    parted = [each for each in found if each]
    chosen = min(parted, key=lambda each: each.first.step if each.first else 0, default=found[0])
    if len(found) == 1:
        return chosen
    told = f"{len(parted)} of {len(found)} ranks part; this is {title(chosen.a.path)}."
    return replace(chosen, remarks=(told, *chosen.remarks))


def _logs(options: argparse.Namespace) -> list[list[Path]]:
    """The logs of both runs, of all their ranks; all that can be refused is refused before a program runs."""
    if options.a is None or options.b is None:
        raise UsageError("two runs are compared, and there is " + ("one" if options.a else "none"),
                         "For example: graphscope diff before.gscope train.py")  # fmt: skip
    sides = [_side(options.a, options.a_args, "--a-args"), _side(options.b, options.b_args, "--b-args")]
    if _is_there(sides[0]) == _is_there(sides[1]) is not None:
        raise UsageError(f"{options.a!r} and {options.b!r} are the same log", "Name two recordings, or scripts.")
    return [_recorded(side, place, options) for side, place in zip(sides, _places(sides), strict=True)]


def _log(named: str | None, arguments: str, option: str, options: argparse.Namespace) -> Path:
    """The log of one side, of several ranks that of the first."""
    if named is None:
        raise UsageError("there is no run to keep", "For example: graphscope diff --save-baseline kept.json train.py")
    side = _side(named, arguments, option)
    return _recorded(side, _place(side), options)[0]


def _recorded(side: Program | list[Path], place: Path, options: argparse.Namespace) -> list[Path]:
    if isinstance(side, list):
        look_at(side)
        return side
    return with_ranks(recorded(side, place, options, then="what ran is compared"))


def _side(named: str, arguments: str, option: str) -> Program | list[Path]:
    """What is to be run, or the logs that are there already."""
    path = Path(named)
    if path.suffix not in SCRIPTS and not (path / "__main__.py").is_file():
        if arguments:
            raise UsageError(f"{option} is for a script, and {named!r} is none", f"Leave {option} out.")
        return logs_of(path)
    if not path.exists():
        raise UsageError(f"there is no script {named!r}", "Logs and scripts can be compared.")
    try:
        return Program(named, tuple(shlex.split(arguments)))
    except ValueError as error:
        raise UsageError(f"{option} {arguments!r} can't be read: {error}", "Close the quotation mark.") from None


def _names(text: str) -> tuple[str, str]:
    """What one side calls a module or a parameter, and what the other does."""
    a, sign, b = text.partition("=")
    if not (sign and a.startswith("a.") and b.startswith("b.") and a[2:] and b[2:]):
        raise UsageError(f"--map can't read {text!r}", "For example: --map a.layer1=b.encoder.0")
    return a[2:], b[2:]


def _is_there(side: Program | list[Path]) -> Path | None:
    """The log of a run that is recorded already."""
    return side[0].resolve() if isinstance(side, list) else None


def _place(side: Program | list[Path]) -> Path:
    return side[0] if isinstance(side, list) else new_log(side)


def _places(sides: Sequence[Program | list[Path]]) -> list[Path]:
    """The log of each side; two that would be one are told apart by `-a` and `-b`."""
    places = [_place(side) for side in sides]
    if places[0].resolve() != places[1].resolve():
        return places
    return [
        place if isinstance(side, list) else place.with_stem(f"{place.stem}-{name}")
        for side, place, name in zip(sides, places, "ab", strict=True)
    ]
