"""A replica that is told to look for what a loss leaves out."""

import torch
import torch.distributed as dist
from torch import nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.Tanh())
        self.actor, self.critic = nn.Linear(8, 3), nn.Linear(8, 1)

    def forward(self, x):
        return self.critic(self.body(x))


dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
replica = nn.parallel.DistributedDataParallel(Agent(), find_unused_parameters=True)
for _ in range(2):
    replica(torch.randn(5, 4)).pow(2).mean().backward()
dist.destroy_process_group()
