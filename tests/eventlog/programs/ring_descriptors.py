"""A ring that goes round while the program has used up its descriptors; prints each loss."""

import os

import numpy as np

import graphscope as gs

mine = []
weight = gs.tensor(np.ones(4000), requires_grad=True)
optimizer = gs.optim.SGD([weight], lr=1e-3)
with gs.record("run.gscope", keep_last=3):
    for step in range(200):
        if step == 20:
            try:
                while True:
                    mine.append(os.open(os.devnull, os.O_RDONLY))
            except OSError:
                pass
        if step == 150:
            for file in mine:
                os.close(file)
        optimizer.zero_grad()
        loss = (weight * float(step)).sum()
        loss.backward()
        optimizer.step()
        print(loss.item())
