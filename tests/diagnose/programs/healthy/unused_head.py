import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.cls = nn.Linear(16, 3)
        self.aux = nn.Linear(16, 5)

    def forward(self, x):
        h = F.relu(self.body(x))
        return self.cls(h), self.aux(h)


m = Net()
opt = torch.optim.Adam(m.parameters())
for step in range(10):
    y, _ = m(torch.randn(16, 8))
    loss = F.cross_entropy(y, torch.randint(0, 3, (16,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
