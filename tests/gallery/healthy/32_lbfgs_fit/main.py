"""Fitting a curve with L-BFGS and a closure."""
import torch
from torch import nn

torch.manual_seed(32)
x = torch.linspace(-1, 1, 80).unsqueeze(1)
y = torch.sin(4 * x) + 0.3 * x ** 2
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))
opt = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=5, history_size=10)


def closure():
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    return loss


for it in range(12):
    loss = opt.step(closure)
    if it % 3 == 2:
        print(f"outer {it + 1} loss {loss.item():.6f}")
