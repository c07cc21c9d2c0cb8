"""Decay constants of two isotopes from counts, with LBFGS; the closure runs several times per step."""
import torch
from torch import nn


class TwoDecays(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_amount = nn.Parameter(torch.zeros(2))
        self.log_rate = nn.Parameter(torch.tensor([-2.0, 0.5]))
        self.ground = nn.Parameter(torch.zeros(1))

    def forward(self, t):
        decays = self.log_amount.exp() * torch.exp(-self.log_rate.exp() * t.unsqueeze(1))
        return decays.sum(1) + self.ground


torch.manual_seed(225)
t = torch.linspace(0, 6, 90)
measured = 2.5 * torch.exp(-0.4 * t) + 1.2 * torch.exp(-2.2 * t) + 0.1 + 0.02 * torch.randn(90)
model = TwoDecays()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4)


def closure():
    optimizer.zero_grad()
    loss = (model(t) - measured).pow(2).mean()
    loss.backward()
    return loss


for outer in range(1, 16):
    loss = optimizer.step(closure)
    if outer % 3 == 0:
        print(f"{outer:2d} loss {loss.item():.6f} rates {model.log_rate.exp().tolist()}")
