"""Records a small training run with all that the quick ways meet; modules named behind the policy are blocked."""

import sys

if sys.argv[3:]:
    sys.modules.update(dict.fromkeys(sys.argv[3:]))

import numpy as np

import graphscope as gs
from graphscope.eventlog import appender

path, policy, *blocked = sys.argv[1:]
in_python = "graphscope.eventlog._append" in blocked
assert (appender.Cursor.__module__ == "graphscope.eventlog.appender") == in_python
assert (type(gs.tanh).__module__ == "builtins") == (in_python or "graphscope.engine.core._calls" in blocked)

gs.manual_seed(1)
with gs.record(path, values=policy, cap=1 << 19):
    for _ in range(3):
        weight = gs.randn(30, 20, requires_grad=True)
        large = gs.ones(300, 400, requires_grad=True)
        larger = gs.ones(400, 400, requires_grad=True)
        bias = gs.tensor(0.5, dtype=gs.float64, requires_grad=True)
        optimizer = gs.optim.SGD([weight, large, larger], lr=0.01)
        for step in range(5):
            hidden = gs.tanh(weight.t() @ gs.ones(30, 1 + step) * 2.0 + bias.float())
            wide = (larger @ large.t())[:, :3].sum() + gs.tensor([1, 2, 3]).sum() + (hidden > 0).sum()
            loss = hidden.sum() * hidden.mean() + wide + (hidden / 0.0).max() * gs.tensor(np.zeros(0)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        gs.step()
