import torch
import torch.nn as nn

torch.manual_seed(0)
disc = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.Sigmoid())
opt = torch.optim.Adam(disc.parameters(), lr=1e-3)


def fake_loss(p):
    return -torch.log(1 - p).mean()  # <-- nan


for step in range(12):
    x = torch.randn(128, 64) * (200 if step == 6 else 1)
    loss = fake_loss(disc(x))
    opt.zero_grad()
    loss.backward()
    opt.step()
