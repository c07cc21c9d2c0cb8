"""What a norm was given is written over."""

import torch
from torch import nn

torch.manual_seed(0)


# layer norm / batch norm / conv / cumsum / max etc. saved and written
class Net(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.c = nn.Conv1d(2, d, 3, padding=1)
        self.b = nn.BatchNorm1d(d)
        self.o = nn.Linear(d, 2)
        self.att = nn.MultiheadAttention(d, 2, batch_first=True)

    def forward(self, x):
        h = self.c(x)
        z = self.b(h)
        h += 1.0  # <-- overwritten
        z = z.transpose(1, 2)
        a, _ = self.att(z, z, z)
        return self.o((a + z).mean(1))


net = Net(8)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = net(torch.randn(16, 2, 10)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
