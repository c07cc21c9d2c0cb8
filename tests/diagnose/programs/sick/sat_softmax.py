import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Att(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.q = nn.Linear(d, d)
        self.k = nn.Linear(d, d)
        self.v = nn.Linear(d, d)
        self.o = nn.Linear(d, 3)
        nn.init.normal_(self.q.weight, 0, 1.0)
        nn.init.normal_(self.k.weight, 0, 1.0)

    def forward(self, x):
        s = self.q(x) @ self.k(x).transpose(1, 2)
        w = s.softmax(-1)  # <-- saturation
        return self.o((w @ self.v(x)).mean(1))


net = Att()
opt = torch.optim.Adam(net.parameters(), lr=1e-4)
for step in range(12):
    loss = F.cross_entropy(net(torch.randn(8, 10, 64)), torch.randint(0, 3, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
