"""A server of the Model Context Protocol over its standard streams, for programs that debug programs.

Its tools read recordings: what is wrong and where, why a gradient is None, where two runs part, training steps, nodes,
values, source. With `--run` a client may run programs, too: record them, step through them in both directions of time,
and evaluate Python in them.
"""

from __future__ import annotations

import argparse

from graphscope.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument("--run", action="store_true", help="let clients run programs and evaluate Python")


def run(options: argparse.Namespace) -> int:
    """Serve until the client leaves."""
    from graphscope.dap.adapter_thread import adapter
    from graphscope.mcp.server import serve

    serve(adapter if options.run else None)
    return 0
