"""The temperature of a contrast is a tensor of ones that requires grad, moved after that by its log."""

import torch
from torch import nn


class Contrast(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(6, 8), nn.Linear(6, 8)
        self.scale = torch.full((1,), 14.0, requires_grad=True).log()  # <-- not_registered

    def forward(self, a, b):
        a = nn.functional.normalize(self.left(a), dim=1)
        b = nn.functional.normalize(self.right(b), dim=1)
        return a @ b.T * self.scale.exp()


model = Contrast()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(12):
    a = torch.randn(10, 6)
    scores = model(a, a + 0.1 * torch.randn(10, 6))
    loss = nn.functional.cross_entropy(scores, torch.arange(10))
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
