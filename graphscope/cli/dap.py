"""A debug adapter: editors speak to it over its standard streams, others over a socket of this machine."""

from __future__ import annotations

import argparse

from graphscope.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--listen", metavar="ADDRESS", help="wait for clients at PORT (0: any that is free), HOST:PORT or unix:PATH"
    )
    parser.add_argument("--once", action="store_true", help="end when the first client has left")


def run(options: argparse.Namespace) -> int:
    """Serve until the client leaves."""
    from graphscope.dap.server import serve_socket, serve_stdio

    if options.listen is None:
        return serve_stdio()

    def announce(where: str, token: str) -> None:
        print(f"graphscope: a debug adapter listens at {where} with token {token}", flush=True)

    return serve_socket(options.listen, announce, once=options.once)
