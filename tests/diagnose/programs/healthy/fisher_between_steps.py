import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
fisher = [torch.zeros_like(p) for p in net.parameters()]


def backward(x, y):
    net.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    return loss.item()


for step in range(8):
    x = torch.randn(16, 5)
    y = (x[:, 0] > 0).long()
    for i in range(3):
        backward(x[i : i + 1], y[i : i + 1])
        for f, p in zip(fisher, net.parameters()):
            f += p.grad.detach() ** 2
    backward(x, y)
    opt.step()
