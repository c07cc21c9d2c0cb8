import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3))
x, y = torch.randn(32, 6), torch.randn(32, 3)
velocity = [torch.zeros_like(p) for p in net.parameters()]
for step in range(4):
    grads = torch.autograd.grad(F.mse_loss(net(x), y), list(net.parameters()))
    with torch.no_grad():
        for i, (p, g) in enumerate(zip(net.parameters(), grads)):
            velocity[i] = 0.9 * velocity[i] + 0.1 * g
            p -= 0.05 * velocity[i]  # <-- update
