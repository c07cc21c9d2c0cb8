import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
scale = nn.Parameter(torch.ones(1))
start = [p.detach().clone() for p in net.parameters()]
for step in range(15):
    x = torch.randn(32, 8)
    mse = nn.functional.mse_loss(net(x), x[:, :1])
    l2 = sum(p.pow(2).sum() for p in net.parameters())
    w = net[0].weight
    orthogonal = ((w @ w.t() / w.norm() ** 2 - torch.eye(32)) ** 2).sum()
    near = sum(((p - q) ** 2).sum() for p, q in zip(net.parameters(), start))
    loss = mse + 1e-3 * l2 + 1e-3 * orthogonal + 1e-2 * near
    opt.zero_grad()
    loss.backward()
    opt.step()
