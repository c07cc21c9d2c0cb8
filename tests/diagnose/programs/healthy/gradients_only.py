import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
importance = {n: torch.zeros_like(p) for n, p in net.named_parameters()}
for batch in range(8):
    x = torch.randn(16, 5)
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long()).backward()
    for n, p in net.named_parameters():
        importance[n] += p.grad.abs() / 8
