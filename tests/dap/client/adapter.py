"""The debug adapter as one file, for clients that start `RUNTIME FILE`."""

import sys

from graphscope.cli import main

sys.exit(main(["dap"]))
