import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(6):
    x = torch.randn(8, 5)
    y = (x[:, 0] > 0).long()
    total = [torch.zeros_like(p) for p in net.parameters()]
    for i in range(8):
        opt.zero_grad()
        nn.functional.cross_entropy(net(x[i : i + 1]), y[i : i + 1]).backward()
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        for t, p in zip(total, net.parameters()):
            t.add_(p.grad)
    for t, p in zip(total, net.parameters()):
        p.grad = t / 8 + 0.01 * torch.randn_like(p)
    opt.step()
