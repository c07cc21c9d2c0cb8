import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(10, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)


def objective(x, y, alpha=0.05):
    error = (net(x).squeeze(1) - y).pow(2).mean()
    penalty = alpha * torch.norm(net.weight)
    return error - penalty  # <-- wrong_sign


for step in range(30):
    x = torch.randn(64, 10)
    loss = objective(x, x[:, 0])
    opt.zero_grad()
    loss.backward()
    opt.step()
