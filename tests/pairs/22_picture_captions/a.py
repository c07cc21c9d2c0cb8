"""Pictures and captions into one space."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Tower(nn.Module):
    def __init__(self, inp, hidden=32, out=12, p=0.25):
        super().__init__()
        self.inp = nn.Linear(inp, hidden)
        self.out = nn.Linear(hidden, out)
        self.p = p

    def forward(self, x):
        h = torch.tanh(self.inp(x))
        h = F.dropout(h, self.p, self.training)
        return F.normalize(self.out(h), dim=-1)


class Matcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.picture = Tower(48)
        self.caption = Tower(20)
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, pictures, captions):
        p = self.picture(pictures)
        c = self.caption(captions)
        return self.scale.exp() * p @ c.T


if __name__ == "__main__":
    torch.manual_seed(5)
    model = Matcher()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(2):
        pictures, captions = torch.randn(10, 48), torch.randn(10, 20)
        logits = model(pictures, captions)
        target = torch.arange(10)
        loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())
