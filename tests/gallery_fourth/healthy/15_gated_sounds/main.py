import torch
from torch import nn

from wavenet import EventDetector

torch.manual_seed(15)
gen = torch.Generator().manual_seed(15)


def clips(n, length=40):
    sound = 0.5 * torch.randn(n, 6, length, generator=gen)
    at = torch.randint(length - 8, (n,), generator=gen)
    active = ((torch.arange(length) >= at[:, None]) & (torch.arange(length) < at[:, None] + 8)).float()
    sound[:, 2] += 1.5 * active
    sound[:, 4] -= active
    return sound, active


net = EventDetector()
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(1, 61):
    sound, active = clips(16)
    p = net(sound)
    loss = criterion(p, active)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 12 == 0:
        print(f"step {step} bce {loss.item():.4f} right {((p > 0.5) == (active > 0.5)).float().mean().item():.3f}")
