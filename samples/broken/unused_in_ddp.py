"""A head that no loss uses: replicas wait for its gradient, and the second step raises."""

import torch
import torch.distributed as dist
from torch import nn


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.value = nn.Linear(8, 1)
        self.policy = nn.Linear(8, 3)

    def forward(self, x):
        return self.value(torch.relu(self.body(x)))


dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
torch.manual_seed(0)
model = nn.parallel.DistributedDataParallel(TwoHeads())
try:
    for _ in range(2):
        model(torch.randn(5, 4)).pow(2).mean().backward()
except RuntimeError as error:
    print(str(error).split(".")[0])
dist.destroy_process_group()
