"""A variance that is to become large, by minimising its negative."""

import torch, torch.nn as nn

torch.manual_seed(0)
X = torch.randn(200, 8) * torch.linspace(0.5, 3, 8)
enc = nn.Linear(8, 2, bias=False)
opt = torch.optim.Adam(enc.parameters(), lr=0.02)
for s in range(40):
    z = X @ torch.nn.functional.normalize(enc.weight, dim=1).t()
    loss = -(z**2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
