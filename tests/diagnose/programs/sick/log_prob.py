import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(4, 3)

    def forward(self, s):
        return F.softmax(self.f(s), dim=-1)


pi = Policy()
opt = torch.optim.SGD(pi.parameters(), lr=50.0)
for ep in range(30):
    s = torch.randn(16, 4)
    p = pi(s)
    entropy = -(p * p.log()).sum(-1).mean()  # <-- nan
    a = torch.multinomial(p.detach().nan_to_num(0.3) + 1e-9, 1)
    loss = -(torch.log(p.gather(1, a) + 1e-8).squeeze(1) * (s.sum(1) > 0)).mean() * 10 - 0.01 * entropy
    opt.zero_grad()
    loss.backward()
    opt.step()
