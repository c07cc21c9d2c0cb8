"""Autoencoder whose decoder is the transpose of the encoder."""
from dataclasses import dataclass

import torch
from torch import nn
import torch.nn.functional as F


@dataclass
class Options:
    columns: int = 30
    code: int = 6
    steps: int = 80
    lr: float = 1e-2


class Tied(nn.Module):
    def __init__(self, columns, code):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(code, columns) * columns ** -0.5)
        self.up = nn.Parameter(torch.zeros(code))
        self.down = nn.Parameter(torch.zeros(columns))

    def forward(self, x):
        z = F.softplus(F.linear(x, self.weight, self.up), beta=2)
        return F.linear(z, self.weight.t(), self.down)


def fit(options):
    torch.manual_seed(206)
    mixing = torch.randn(4, options.columns) / 2
    model = Tied(options.columns, options.code)
    opt = torch.optim.Adam(model.parameters(), lr=options.lr)
    for step in range(options.steps):
        x = torch.randn(64, 4) @ mixing + 0.1 * torch.randn(64, options.columns)
        loss = F.mse_loss(model(x), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 19:
            print(step + 1, round(loss.item(), 4))


fit(Options())
