"""A network learns a surface and its slopes: what it is to answer are the derivatives of a known function."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)


def surface(points):
    return torch.sin(points[:, 0]) * points[:, 1].square()


def sample(count):
    points = torch.randn(count, 2, requires_grad=True)
    height = surface(points)
    fall = -torch.autograd.grad(height.sum(), points)[0]
    return points.detach(), height.detach(), fall


for step in range(30):
    points, height, fall = sample(32)
    points.requires_grad_()
    answer = net(points).squeeze(1)
    found = -torch.autograd.grad(answer.sum(), points, create_graph=True)[0]
    loss = (answer - height).square().mean() + (found - fall).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
