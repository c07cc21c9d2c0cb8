import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.q = nn.Linear(d, d)
        self.k = nn.Linear(d, d)
        self.v = nn.Linear(d, d)

    def forward(self, x, pad):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = q @ k.transpose(-2, -1) / 4.0
        scores = scores.masked_fill(pad[:, None, :], float("-inf"))
        w = F.softmax(scores, dim=-1)  # <-- nan
        return w @ v


att = Attention()
head = nn.Linear(16, 2)
opt = torch.optim.Adam([*att.parameters(), *head.parameters()], lr=1e-3)
for step in range(15):
    x = torch.randn(4, 6, 16)
    pad = torch.rand(4, 6) > 0.7
    pad[:, 0] = False
    if step == 6:
        pad[1] = True
    loss = F.cross_entropy(head(att(x, pad).mean(1)), torch.randint(0, 2, (4,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
