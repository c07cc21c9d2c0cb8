"""Weights of bfloat16 with updates that are large enough, and weights of float32 that compute in bfloat16."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(128, 16)
y = x[:, :2].sum(1, keepdim=True)
for dtype, rate in ((torch.bfloat16, 1e-2), (torch.float32, 3e-4)):
    net = nn.Sequential(nn.Linear(16, 32), nn.LayerNorm(32), nn.ReLU(), nn.Linear(32, 1)).to(dtype)
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    for step in range(30):
        rows = torch.randint(0, 128, (32,))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            prediction = net(x[rows].to(dtype))
        loss = nn.functional.mse_loss(prediction.float(), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
