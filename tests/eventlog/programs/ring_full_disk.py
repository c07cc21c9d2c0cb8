"""ring_full_disk.py KEEP FULL FREE: trains as a ring in this folder; another file fills its disk from step FULL on,
and is gone ahead of step FREE. KEEP 0: unrecorded. Prints the loss of each step.
"""

import os
import sys
from contextlib import nullcontext, suppress
from pathlib import Path

import numpy as np

import graphscope as gs

SMALL = 64 << 20
FILLER = Path("filler")

keep, full, free = map(int, sys.argv[1:])
generator = np.random.default_rng(0)
weight = gs.tensor(np.linspace(0.1, 1.0, 4000), requires_grad=True)
optimizer = gs.optim.SGD([weight], lr=0.1)
with gs.record("run.gscope", keep_last=keep) if keep else nullcontext():
    for step in range(600):
        if full <= step < free:
            disk = os.statvfs(".")
            assert disk.f_blocks * disk.f_frsize <= SMALL, "this is not the small file system of a test"
            with suppress(OSError), FILLER.open("ab", buffering=0) as filler:
                while filler.write(bytes(4096)):
                    pass
        if step == free:
            FILLER.unlink()
        optimizer.zero_grad()
        loss = (weight * gs.tensor(generator.normal(size=4000))).square().mean()
        loss.backward()
        optimizer.step()
        print(step, loss.item())
