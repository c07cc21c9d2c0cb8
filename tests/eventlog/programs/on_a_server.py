"""on_a_server.py STEPS: trains as a ring in this folder, looked at by a reader that holds some of what is dropped.

Prints the last loss, and the most folders of dropped segments that there were at a time.
"""

import gc
import sys
from collections import deque
from pathlib import Path

import numpy as np

import graphscope as gs

most = 0
held = deque(maxlen=3)
weight = gs.tensor(np.linspace(0.1, 1.0, 4000), requires_grad=True)
optimizer = gs.optim.SGD([weight], lr=0.1)
with gs.record("run.gscope", keep_last=2, budget=1 << 22):
    for step in range(int(sys.argv[1])):
        optimizer.zero_grad()
        loss = (weight * (1 + step % 3)).square().mean()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            held.append(gs.load("run.gscope"))
            most = max(most, len([*Path("run.gscope/segments").glob("*.dropped")]))
    held.clear()
    gc.collect()
    for _ in range(1000):
        loss = (weight * 2).sum()
print(loss.item(), most)
