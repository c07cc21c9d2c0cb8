"""`make demo`: the debugger on one sample; where there is no terminal, a scripted walk through its commands."""

import os
import pathlib
import sys

from graphscope.cli import main
from graphscope.tui.screen_entry import has_terminal

SAMPLE = "samples/rnn_cell.py"
PICTURE = "build/rnn_cell.svg"

HELLO = f"""\
This is {SAMPLE}, stopped at its first node. Some things to type:

    n                    to the next node
    p value              what it computed
    inputs               what it was made of
    b op:tanh backward   stop where the rule of tanh is due
    c                    go on to that stop
    p grad               the gradient that arrives there
    s                    into the rule, op by op
    rn                   one node back in time
    help                 all commands
    q                    leave
"""

WALK = """\
# Forward: every node is a stop, with its value.
n
until 14
inputs
p value.T
# Backward: stop where the rule of tanh is due.
b op:tanh backward
c
formula
p grad.T
# How much of it does tanh let through? 1 - out * out, and most outputs are close to 1 or -1.
p (1 - value * value).T
# Into the rule: its ops are nodes, too.
s
n
rn
# Out again, and on to the gradient of W_h: half of its rows are almost zero.
b name:W_h backward
c
p abs(grad).sum(axis=1)
# Back in time to the forward pass, and out again: without a breakpoint ahead the program runs to its end.
goto 9
p value[:4].T
clear
c
# A picture of both passes.
export {picture}
q
"""


def demo():
    os.chdir(pathlib.Path(__file__).resolve().parent.parent)
    pathlib.Path(PICTURE).parent.mkdir(exist_ok=True)
    if has_terminal():
        status = main(["debug", SAMPLE])
        print(f"This was {SAMPLE}. `graphscope debug --console` gives a prompt like pdb's in the place of the screen.")
        return status
    if sys.stdin.isatty() and sys.stdout.isatty():
        print(HELLO)
        return main(["debug", "--console", SAMPLE])
    print(f"No terminal here: a walk through {SAMPLE}, as you would type it.\n")
    commands = [part for line in WALK.format(picture=PICTURE).splitlines() for part in ("-c", line)]
    return main(["debug", "--console", *commands, SAMPLE])


if __name__ == "__main__":
    sys.exit(demo())
