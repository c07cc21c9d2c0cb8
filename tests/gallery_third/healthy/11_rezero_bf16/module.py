import torch
from torch import nn


class ReZero(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))
        self.alpha = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return x + self.alpha * self.f(x)


class Emulator(nn.Module):
    def __init__(self, inputs=10, dim=48, depth=5):
        super().__init__()
        self.inp, self.out = nn.Linear(inputs, dim), nn.Linear(dim, 1)
        self.blocks = nn.Sequential(*[ReZero(dim) for _ in range(depth)])

    def forward(self, x):
        return self.out(self.blocks(torch.tanh(self.inp(x)))).squeeze(-1)

    def training_step(self, batch):
        x, y = batch
        return nn.functional.smooth_l1_loss(self(x).float(), y)

    def configure_optimizers(self, steps):
        opt = torch.optim.AdamW(self.parameters(), lr=5e-3)
        return opt, torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(s / 10, max(0.0, (steps - s) / (steps - 10))))
