"""Radial basis functions: all inputs against all centres by broadcasting."""
import torch
from torch import nn


class RBF(nn.Module):
    def __init__(self, centres):
        super().__init__()
        self.centres = nn.Parameter(torch.linspace(-3, 3, centres))
        self.log_width = nn.Parameter(torch.zeros(centres))
        self.out = nn.Linear(centres, 1)

    def forward(self, x):
        diff = x.unsqueeze(1) - self.centres
        phi = torch.exp(-(diff * self.log_width.exp()) ** 2)
        return self.out(phi).squeeze(1)


def kernel(a, b, scale=1.0):
    return torch.exp(-((a.view(-1, 1) - b) / scale) ** 2)


def main():
    torch.manual_seed(22)
    net = RBF(14)
    opt = torch.optim.Adam(net.parameters(), lr=3e-2)
    x = torch.rand(256) * 6 - 3
    y = torch.sin(2 * x) * torch.exp(-0.1 * x ** 2)
    for step in range(100):
        part = torch.randint(0, 256, (64,))
        loss = ((net(x[part]) - y[part]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 25 == 24:
            print(f"step {step + 1} mse {loss.item():.5f}")
    gram = kernel(x[:20], x[:20])
    alpha = torch.linalg.solve(gram + 0.1 * torch.eye(20), y[:20])
    print("kernel ridge error", round(((gram @ alpha - y[:20]) ** 2).mean().item(), 5))


main()
