"""Time-outs of a timer in a loop that makes views and trains, recorded: how many were raised, and how many arrived."""

import random
import signal

import torch

import graphscope as gs

torch.set_num_threads(1)
random.seed(0)
raised = got = 0


def handler(number, frame) -> None:
    global raised
    raised += 1
    raise TimeoutError("took too long")


signal.signal(signal.SIGALRM, handler)
weight = torch.ones(4, requires_grad=True)
with gs.record("run.gscope"):
    while raised < 60:
        torch.set_grad_enabled(True)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.001 + random.random() * 0.003)
            before = raised
            while raised == before:
                view = (weight * raised)[0]
                (view * view).backward()
        except TimeoutError:
            got += 1
print(raised, got)
