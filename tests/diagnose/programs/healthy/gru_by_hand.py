import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class GRU(nn.Module):
    def __init__(self, i=4, h=16):
        super().__init__()
        self.x = nn.Linear(i, 3 * h)
        self.h = nn.Linear(h, 3 * h)
        self.o = nn.Linear(h, 1)

    def forward(self, xs):
        h = torch.zeros(xs.size(1), 16)
        for x in xs:
            a, b = self.x(x).chunk(3, 1), self.h(h).chunk(3, 1)
            r, z = torch.sigmoid(a[0] + b[0]), torch.sigmoid(a[1] + b[1])
            n = torch.tanh(a[2] + r * b[2])
            h = (1 - z) * n + z * h
        return self.o(h)


m = GRU()
opt = torch.optim.Adam(m.parameters(), lr=1e-2)
for step in range(15):
    xs = torch.randn(12, 8, 4)
    loss = F.mse_loss(m(xs), xs.sum((0, 2))[:, None])
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(m.parameters(), 1.0)
    opt.step()
