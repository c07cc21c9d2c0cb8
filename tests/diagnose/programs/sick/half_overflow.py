import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(16, 32)
        self.b = nn.Linear(32, 32)
        self.c = nn.Linear(32, 1)

    def forward(self, x):
        h = F.relu(self.a(x))
        h = self.b(h)  # <-- nan
        return self.c(h)


net = Net()
with torch.no_grad():
    net.b.weight.mul_(200)
opt = torch.optim.SGD(net.parameters(), lr=1e-6)
for step in range(10):
    x = torch.randn(8, 16) * 300
    with torch.autocast("cpu", dtype=torch.float16):
        loss = net(x).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
