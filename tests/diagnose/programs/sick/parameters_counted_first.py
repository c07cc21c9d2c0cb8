"""The parameters of a backbone are counted first, so that the group of the optimizer has none of them."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 24), nn.ReLU())
        self.head = nn.Linear(24, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


model = Classifier()
slow = model.backbone.parameters()
print("parameters of the backbone:", sum(p.numel() for p in slow))
optimizer = torch.optim.AdamW(  # <-- not_in_optimizer
    [{"params": slow, "lr": 1e-4}, {"params": model.head.parameters(), "lr": 1e-3}], weight_decay=0.01
)
data = torch.randn(96, 12)
labels = data[:, :3].argmax(1)
for epoch in range(4):
    for batch in torch.randperm(96).split(24):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(data[batch]), labels[batch])
        loss.backward()
        optimizer.step()
