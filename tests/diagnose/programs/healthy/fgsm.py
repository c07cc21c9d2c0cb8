import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(20):
    x = torch.randn(16, 8, requires_grad=True)
    y = torch.randint(0, 3, (16,))
    (g,) = torch.autograd.grad(F.cross_entropy(net(x), y), x)
    adv = (x + 0.1 * g.sign()).detach()
    loss = F.cross_entropy(net(adv), y) + F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
