"""`python -m graphscope` is the program `graphscope`."""

from __future__ import annotations

import sys

from graphscope.cli import main

if __name__ == "__main__":
    sys.exit(main())
