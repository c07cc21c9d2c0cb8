"""An autoencoder is bfloat16 by default; its norms and most of its weights stand still at an ordinary rate."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_default_dtype(torch.bfloat16)  # <-- lost_update


def layer(taken, made):
    return nn.Sequential(nn.Linear(taken, made), nn.BatchNorm1d(made), nn.SiLU())


net = nn.Sequential(layer(20, 40), layer(40, 10), layer(10, 40), nn.Linear(40, 20))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-4)
x = torch.randn(128, 20)
for step in range(30):
    rows = torch.randint(0, 128, (32,))
    loss = nn.functional.mse_loss(net(x[rows]).float(), x[rows].float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.set_default_dtype(torch.float32)
