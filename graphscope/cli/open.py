"""Look around in a log, finished or growing: step through it forward and backward, draw it, ask for values.

A model in place of a log (`.onnx`, `.pt` of TorchScript, `.pt2` of torch.export) is run once and recorded as
NAME.gscope, with the arrays of `--feed`, or with random numbers of the shapes that the model takes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from graphscope.cli.parser import SUFFIX, Parser, add_log, find_log, is_model
from graphscope.cli.whole_logs import look_at


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    add_log(parser)
    parser.add_argument("--console", action="store_true", help="at a prompt in this terminal, without a screen")
    parser.add_argument("--feed", type=Path, metavar="FILE.npz", help="of a model: arrays for its inputs, by name")


def run(options: argparse.Namespace) -> int:
    """Open the screen over the log; the prompt where one is asked for, or where no terminal is."""
    given = options.log
    log = _recorded(given, options.feed) if given is not None and is_model(given) else find_log(given)
    look_at([log])
    from graphscope.tui.screen_entry import is_wanted, open_screen

    if is_wanted(console=options.console):
        return open_screen(log)
    from graphscope.console.prompt_entry import open_console

    return open_console(log)


def _recorded(model: Path, feed: Path | None) -> Path:
    """A log of one run of a model."""
    from graphscope.static.importing import arrays_of, recorded_run

    feeds = arrays_of(feed) if feed is not None else {}
    log = Path(f"{model.stem}{SUFFIX}")
    recorded_run(model, feeds, log)
    return log
