"""recursion.py CAPTURE: a program that computes until the stack is full, and goes on."""

import sys

import torch

import graphscope as gs


def deeper(x: torch.Tensor) -> torch.Tensor:
    return deeper(x * 1.0 + x[0])


with gs.record("run.gscope", capture=sys.argv[1]) as log:
    try:
        deeper(torch.ones(2))
    except RecursionError as error:
        print(type(error).__name__)
    log.refresh()
    before = log.end
    torch.ones(3) * 2
    log.refresh()
    print(log.end > before)
