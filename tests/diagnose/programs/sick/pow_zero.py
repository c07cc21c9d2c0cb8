import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class GeM(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(torch.tensor(3.0))

    def forward(self, x):
        return x.pow(self.p).mean(-1).pow(1.0 / self.p)  # <-- nan


net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Unflatten(1, (2, 4)), GeM(), nn.Linear(2, 1))
opt = torch.optim.Adam(net.parameters())
for step in range(10):
    x = torch.randn(32, 4)
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
