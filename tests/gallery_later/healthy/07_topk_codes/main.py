"""Sparse codes: only the k largest features of each row are kept."""
import torch
from torch import nn


class TopK(nn.Module):
    def __init__(self, columns=16, features=64, k=6):
        super().__init__()
        self.k = k
        self.encoder = nn.Linear(columns, features)
        self.decoder = nn.Linear(features, columns)

    def forward(self, x):
        a = torch.relu(self.encoder(x - self.decoder.bias))
        top = a.topk(self.k, dim=-1)
        sparse = torch.zeros_like(a).scatter(-1, top.indices, top.values)
        return self.decoder(sparse), sparse


torch.manual_seed(207)
atoms = nn.functional.normalize(torch.randn(24, 16), dim=1)
model = TopK()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
alive = torch.zeros(64, dtype=torch.bool)
for step in range(1, 81):
    weights = torch.rand(96, 24) * (torch.rand(96, 24) < 0.12)
    x = 2 * weights @ atoms
    out, codes = model(x)
    loss = (out - x).pow(2).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    alive |= (codes > 0).any(0)
    if step % 20 == 0:
        print(f"step {step}: {loss.item():.4f}, {int(alive.sum())} of 64 features fired")
        alive.zero_()
