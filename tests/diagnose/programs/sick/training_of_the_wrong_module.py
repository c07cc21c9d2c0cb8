"""The loss module is set back to training, and the network is not."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    criterion.train()
    for _ in range(6):
        x = torch.randn(32, 8)
        optimizer.zero_grad()
        criterion(net(x), x[:, :3].argmax(1)).backward()
        optimizer.step()
    net.eval()  # <-- train_eval_mode
    with torch.no_grad():
        x = torch.randn(32, 8)
        print((net(x).argmax(1) == x[:, :3].argmax(1)).float().mean().item())
