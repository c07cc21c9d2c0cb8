import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.r = nn.Linear(8, 6)
        self.ex = nn.ModuleList(nn.Linear(8, 3) for _ in range(6))
        with torch.no_grad():
            self.r.bias[5] = -50

    def forward(self, x):
        p = self.r(x).softmax(-1)
        w, i = p.max(-1)
        out = torch.zeros(len(x), 3)
        for k, e in enumerate(self.ex):
            m = i == k
            if m.any():
                out[m] = e(x[m]) * w[m, None]
        return out


m = MoE()
opt = torch.optim.Adam(m.parameters())
for step in range(10):
    loss = F.cross_entropy(m(torch.randn(16, 8)), torch.randint(0, 3, (16,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
