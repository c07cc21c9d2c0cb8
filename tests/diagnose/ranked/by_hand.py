"""Trains on several ranks, and averages the gradients itself."""

import sys
import time

import torch
import torch.distributed as dist
from torch import nn

way = sys.argv[1]
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
rate = 0.06 if way == "rate" and rank == 2 else 0.05
optimizer = torch.optim.SGD(model.parameters(), lr=rate)
torch.manual_seed(100 + rank)
batches = [torch.randn(16, 6) for _ in range(8)]
if way == "twice" and rank == 1:
    batches[4] = batches[3]
for step, x in enumerate(batches):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    loss.backward()
    if way == "hang" and step == 5 and rank == 3:
        time.sleep(3600)
    if not (way == "skip" and step == 5 and rank == 3):
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
            parameter.grad /= dist.get_world_size()
    optimizer.step()
dist.destroy_process_group()
