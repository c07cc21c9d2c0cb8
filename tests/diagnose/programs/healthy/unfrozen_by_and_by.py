"""A head is trained first; then the layers below are let learn, one after the other, each with a group of its own."""

import torch
import torch.nn as nn

body = nn.ModuleList([nn.Linear(8, 16), nn.Linear(16, 16)])
head = nn.Linear(16, 3)
body.requires_grad_(False)
opt = torch.optim.Adam(head.parameters(), lr=1e-2)
w = torch.randn(8, 3)
for epoch in range(3):
    if epoch:
        layer = body[-epoch]
        layer.requires_grad_(True)
        opt.add_param_group({"params": layer.parameters(), "lr": 1e-3})
    for _ in range(10):
        x = torch.randn(32, 8)
        h = torch.relu(body[1](torch.relu(body[0](x))))
        loss = nn.functional.cross_entropy(head(h), (x @ w).argmax(1))
        opt.zero_grad()
        loss.backward()
        opt.step()
