"""A replica with a head that no loss uses; the program ends after its first step."""

import torch
import torch.distributed as dist
from torch import nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.Tanh())
        self.actor = nn.Linear(8, 3)  # <-- never_used
        self.critic = nn.Linear(8, 1)

    def forward(self, x):
        return self.critic(self.body(x))


dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
replica = nn.parallel.DistributedDataParallel(Agent())
replica(torch.randn(5, 4)).pow(2).mean().backward()
dist.destroy_process_group()
