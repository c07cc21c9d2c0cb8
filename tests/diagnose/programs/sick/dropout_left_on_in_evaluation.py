"""Evaluation sets batch norms to evaluation, and the dropouts go on dropping."""

import torch
from torch import nn

torch.manual_seed(0)


def to_eval(net):
    for name, m in net.named_modules():
        if "norm" in name or isinstance(m, nn.BatchNorm1d):
            m.eval()


net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
held = torch.randn(64, 8)
for epoch in range(4):
    net.train()
    for _ in range(6):
        x = torch.randn(32, 8)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), x[:, :3].argmax(1)).backward()
        optimizer.step()
    to_eval(net)
    with torch.no_grad():
        print((net(held).argmax(1) == held[:, :3].argmax(1)).float().mean().item())  # <-- train_eval_mode
