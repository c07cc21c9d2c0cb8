"""Monitoring switches the dropouts off, one by one, and nobody switches them on again."""

import torch
from torch import nn

torch.manual_seed(0)


def quiet(net):
    for m in net.modules():
        if isinstance(m, nn.Dropout):
            m.eval()  # <-- train_eval_mode


net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    for _ in range(6):
        x = torch.randn(32, 8)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), x[:, :3].argmax(1)).backward()
        optimizer.step()
    if epoch == 0:
        quiet(net)
        with torch.no_grad():
            x = torch.randn(32, 8)
            print(nn.functional.cross_entropy(net(x), x[:, :3].argmax(1)).item())
