"""`invoke` on a compiled region: its generated graph runs again call by call, and comes to what was recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.adapters.kept_regions import MARKS

pytestmark = MARKS

PROGRAM = """\
import json
import torch
from torch import nn
from torch.nn import functional as F
import graphscope as gs
from graphscope.static.replay.generated_values import values

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.norm = nn.Linear(4, 8), nn.LayerNorm(8)

    def forward(self, x):
        h = F.dropout(F.gelu(self.norm(self.up(x))), 0.5)
        first, second = h.chunk(2, 1)
        h, _ = torch.sort(torch.cat([second, first], 1), 1)
        h += 1
        return h.reshape(len(h) * h.shape[1], -1) * len(x)

torch.manual_seed(0)
net = Net()
compiled = torch.compile(net, backend="aot_eager")
with gs.record(capture="compiled") as log:
    for count in (2, 3, 5):
        compiled(torch.randn(count, 6, 4)).sum().backward()
log.refresh()
told = []
for node in log.graph.select("op:compiled_Net forward"):
    graph = log.generated(node.event.op).forward
    found = values(node, graph, {})
    (out,) = graph.outputs
    told.append({
        "same": bool((found[out] == node.value).all()),
        "missing": [each.op for each, value in zip(graph.nodes, found) if value is None],
        "changed": bool((values(node, graph, {0: node.inputs[0].source.value * 2})[out] != node.value).any()),
    })
print(json.dumps(told))
"""


def test_a_region_comes_to_what_was_recorded() -> None:
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    told: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    assert told == [{"same": True, "missing": ["chunk", "sort"], "changed": True}] * 3
