"""An input that is changed so that a network that stays as it is errs."""

import torch, torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3)).eval()
X = torch.randn(16, 10)
Y = net(X).argmax(1).detach()
delta = torch.zeros_like(X, requires_grad=True)
opt = torch.optim.Adam([delta], lr=0.05)
for s in range(30):
    opt.zero_grad()
    loss = -nn.functional.cross_entropy(net(X + delta), Y)
    loss.backward()
    opt.step()
