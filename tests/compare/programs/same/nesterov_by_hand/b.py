import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3))
x, y = torch.randn(32, 6), torch.randn(32, 3)
velocity = [torch.zeros_like(p) for p in net.parameters()]
for step in range(4):
    loss = F.mse_loss(net(x), y)
    loss.backward()
    for i, p in enumerate(net.parameters()):
        velocity[i] = 0.9 * velocity[i] + p.grad
        p.data = p.data - 0.05 * (p.grad + 0.9 * velocity[i])
        p.grad = None
