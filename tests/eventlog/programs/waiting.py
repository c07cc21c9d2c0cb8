"""Records to shared.gscope, with a line of its input between two products."""

import sys

import graphscope as gs

with gs.record("shared.gscope"):
    gs.ones(3) * 2
    print("begun", flush=True)
    sys.stdin.readline()
    gs.ones(3) * 2
