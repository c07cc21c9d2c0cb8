"""Time in a queue: a mixer over the last visitors, the whole batch at once."""

import torch
from torch import nn

BATCH, VISITORS, MARKS, WIDTH = 12, 6, 5, 16


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.across = nn.Sequential(nn.Linear(VISITORS, 12), nn.Mish(), nn.Linear(12, VISITORS))
        self.within = nn.Sequential(nn.Linear(WIDTH, 32), nn.Mish(), nn.Linear(32, WIDTH))

    def forward(self, x):
        x = x + self.across(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.within(self.norm2(x))


class Queue(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(MARKS, WIDTH)
        self.mixers = nn.Sequential(Mixer(), Mixer())
        self.leave = nn.Linear(WIDTH, 1)

    def forward(self, x):
        return self.leave(self.mixers(self.enter(x)).mean(1))[:, 0]


def visitors(step):
    g = torch.Generator().manual_seed(210 + step)
    x = torch.randn(BATCH, VISITORS, MARKS, generator=g)
    return x, x[..., 0].amax(1) + 0.5 * x[:, 0, 1]


if __name__ == "__main__":
    torch.manual_seed(21)
    model = Queue()
    average = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    for step in range(4):
        x, y = visitors(step)
        optimizer.zero_grad()
        loss = (model(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        scheduler.step()
        average.update_parameters(model)
        print(step, f"{loss.item():.6f}")
    with torch.no_grad():
        x, y = visitors(50)
        print("average", f"{(average(x) - y).square().mean().item():.6f}")
