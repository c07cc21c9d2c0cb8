"""A recurrent layer whose weights begin too large: its gradients are of no use from the first step on."""

import torch
from torch import nn

torch.manual_seed(1)
layer, head = nn.RNN(8, 24, nonlinearity="relu", batch_first=True), nn.Linear(24, 1)
nn.init.normal_(layer.weight_hh_l0, std=0.6)
optimizer = torch.optim.Adam([*layer.parameters(), *head.parameters()], 1e-4)
for _ in range(20):
    x = torch.randn(16, 24, 8)
    states, _ = layer(x)  # <-- exploding_gradient
    loss = nn.functional.mse_loss(head(states[:, -1]), x.sum((1, 2))[:, None])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
