"""Two encoders that are trained to agree, with a temperature that is learnt and kept within bounds."""

import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Sequential(nn.Linear(20, 32), nn.GELU(), nn.Linear(32, 16))
        self.text = nn.Sequential(nn.EmbeddingBag(50, 32), nn.LayerNorm(32), nn.Linear(32, 16))
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, x, t):
        a, b = F.normalize(self.image(x), dim=-1), F.normalize(self.text(t), dim=-1)
        return self.logit_scale.exp() * a @ b.t()


net = Pair()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.2)
protos, words = torch.randn(50, 20), torch.arange(50)
for step in range(30):
    w = torch.randperm(50)[:16]
    x = protos[w] + 0.1 * torch.randn(16, 20)
    t = torch.stack([w, (w + 1) % 50], 1)
    logits = net(x, t)
    y = torch.arange(16)
    loss = (F.cross_entropy(logits, y) + F.cross_entropy(logits.t(), y)) / 2
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    with torch.no_grad():
        net.logit_scale.clamp_(0, math.log(100))
