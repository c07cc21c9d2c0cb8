import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Meter:
    def __init__(self):
        self.total = 0

    def update(self, v):
        self.total = self.total + v  # <-- graph_kept


net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
meter = Meter()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(30):
    x = torch.randn(16, 8)
    y = torch.randint(0, 3, (16,))
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    meter.update(loss)
