"""A pretrained encoder is frozen under another name, runs on both branches of a siamese network, and the optimizer is
given all parameters."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
first = torch.optim.Adam(encoder.parameters(), lr=0.01)
for step in range(10):
    x = torch.randn(16, 8)
    loss = F.mse_loss(encoder(x), x)
    first.zero_grad()
    loss.backward()
    first.step()


class Siamese(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.backbone = encoder
        for p in self.backbone.parameters():
            p.requires_grad = False
        self.head = nn.Linear(8, 4)

    def forward(self, a, b):
        return F.cosine_similarity(self.head(self.backbone(a)), self.head(self.backbone(b)))


model = Siamese(encoder)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(12):
    a = torch.randn(16, 8)
    loss = (1 - model(a, a + 0.1 * torch.randn_like(a))).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
