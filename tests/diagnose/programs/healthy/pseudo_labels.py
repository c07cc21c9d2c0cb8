"""The network itself, without gradients and with dropout, labels data that it then learns from."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(15):
    x, weak = torch.randn(16, 5), torch.randn(16, 5)
    with torch.no_grad():
        confidence, labels = model(weak + 0.01 * torch.randn_like(weak)).softmax(-1).max(1)
        used = (labels == labels.mode().values).float() * (confidence > 0.4)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    loss = loss + (nn.functional.cross_entropy(model(weak), labels, reduction="none") * used).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
