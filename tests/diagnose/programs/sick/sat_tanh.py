import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 32)
        self.b = nn.Linear(32, 32)
        self.c = nn.Linear(32, 3)
        for l in (self.a, self.b):
            nn.init.normal_(l.weight, 0, 50.0)

    def forward(self, x):
        h = torch.tanh(self.a(x))  # <-- saturation
        h = torch.tanh(self.b(h))  # <-- saturation
        return self.c(h)


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(20):
    loss = F.cross_entropy(net(torch.randn(16, 8)), torch.randint(0, 3, (16,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
