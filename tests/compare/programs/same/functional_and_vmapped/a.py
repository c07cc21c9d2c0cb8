import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 3))
x, y = torch.randn(10, 6), torch.randn(10, 3)
for step in range(2):
    loss = F.mse_loss(net(x), y)
    grads = torch.autograd.grad(loss, list(net.parameters()))
    with torch.no_grad():
        for p, g in zip(net.parameters(), grads):
            p -= 0.1 * g
