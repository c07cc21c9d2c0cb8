import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Att(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(8, 8)
        self.k = nn.Linear(8, 8)
        self.h = nn.Linear(8, 2)

    def forward(self, x, keep):
        s = self.q(x) @ self.k(x).transpose(1, 2) + keep.float().log()[:, None]
        return self.h((s.softmax(-1) @ x).mean(1))


m = Att()
opt = torch.optim.Adam(m.parameters())
for step in range(20):
    x = torch.randn(4, 5, 8)
    keep = torch.rand(4, 5) > 0.4
    keep[:, 0] = True
    loss = F.cross_entropy(m(x, keep), torch.randint(0, 2, (4,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
