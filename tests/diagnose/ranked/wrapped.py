"""Trains on several ranks with DistributedDataParallel."""

import sys
import time
from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

way = sys.argv[1]
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
inputs = torch.randn(256, 6)
dataset = TensorDataset(inputs, inputs.sum(1, keepdim=True))
part = 1 if way == "twice" and rank == 2 else rank
sampler = DistributedSampler(dataset, rank=part, num_replicas=world)
loader = DataLoader(dataset, batch_size=16, sampler=sampler)
model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1)))
rate = 0.06 if way == "rate" and rank == 2 else 0.05
optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for batch, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        left_out = way == "skip" and epoch == 1 and batch == 1 and rank == 3
        with model.no_sync() if left_out else nullcontext():
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
        if way == "hang" and epoch == 1 and batch == 2 and rank == 1:
            time.sleep(3600)
        optimizer.step()
dist.destroy_process_group()
