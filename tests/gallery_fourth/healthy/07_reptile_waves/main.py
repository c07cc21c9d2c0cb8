import copy

import torch
from torch import nn

torch.manual_seed(7)
gen = torch.Generator().manual_seed(7)


class Wave:
    def __init__(self):
        self.height, self.phase = torch.rand(2, generator=gen) * torch.tensor([0.5, 0.8]) + torch.tensor([1.0, 0.0])

    def sample(self, n):
        x = torch.rand(n, 1, generator=gen) * 4 - 2
        return x, self.height * torch.sin(x + self.phase)


def adapt(model, task, steps, lr=0.02):
    """Plain training on one task; the optimizer is thrown away afterwards."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for _ in range(steps):
        x, y = task.sample(20)
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


meta = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
mean = 0.0
for outer in range(1, 31):
    fast = copy.deepcopy(meta)
    mean = 0.8 * mean + 0.2 * adapt(fast, Wave(), steps=4)
    with torch.no_grad():
        for slow, quick in zip(meta.parameters(), fast.parameters()):
            slow += 0.5 * (quick - slow)
    if outer % 6 == 0:
        print(f"task {outer} loss after adaptation (smoothed) {mean:.4f}")
