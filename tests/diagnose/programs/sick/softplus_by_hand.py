import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(16, 64)
opt = torch.optim.SGD(net.parameters(), lr=1e-4)


def softplus(x):
    return torch.where(x > 20, x, torch.log(1 + torch.exp(x)))  # <-- nan


for step in range(6):
    loss = softplus(net(torch.randn(64, 16) * 100)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
