import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=1e-1)
for batch in range(8):
    x = torch.randn(16, 5)
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long()).backward()
    nn.utils.clip_grad_norm_((p for p in net.parameters() if p.grad is not None), 1.0)
    opt.step()
