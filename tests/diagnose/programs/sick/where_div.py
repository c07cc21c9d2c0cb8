import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Ratio(nn.Module):
    def __init__(self):
        super().__init__()
        self.num = nn.Linear(6, 4)
        self.den = nn.Linear(6, 4)

    def forward(self, x):
        n, d = self.num(x), F.relu(self.den(x))
        return torch.where(d > 0, n / d, n)  # <-- nan


m = Ratio()
opt = torch.optim.SGD(m.parameters(), lr=1e-3)
for _ in range(10):
    x = torch.randn(8, 6)
    loss = F.smooth_l1_loss(m(x), torch.ones(8, 4))
    opt.zero_grad()
    loss.backward()
    opt.step()
