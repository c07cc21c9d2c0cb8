import torch
import torch.nn as nn
import torch.nn.functional as F

from models import student, teacher


class Distiller:
    def __init__(self, big, small, temperature=3.0, alpha=0.7):
        self.big, self.small = big.eval(), small
        self.t, self.alpha = temperature, alpha
        self.hard = nn.CrossEntropyLoss()

    def soft(self, mine, theirs):
        logp = F.log_softmax(mine / self.t, dim=1)
        q = F.softmax(theirs / self.t, dim=1)
        return F.kl_div(logp, q, reduction="batchmean") * self.t**2

    def loss(self, x, y):
        with torch.no_grad():
            theirs = self.big(x)
        mine = self.small(x)
        soft = self.soft(mine, theirs)
        hard = self.hard(mine, y)
        return self.alpha * soft + (1 - self.alpha) * hard


torch.manual_seed(42)
big, small = teacher(7), student(7)
distiller = Distiller(big, small)
opt = torch.optim.Adam(small.parameters(), lr=1e-2)
for step in range(3):
    x = torch.randn(32, 12)
    y = torch.randint(0, 7, (32,))
    loss = distiller.loss(x, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{step} {loss.item():.6f}")
