"""Transformer encoder with a warm-up from learning rate zero, stepped per batch."""
import math

import torch
from torch import nn


def schedule(warm, total):
    def factor(step):
        if step < warm:
            return step / warm
        return 0.5 * (1 + math.cos(math.pi * (step - warm) / (total - warm)))
    return factor


class Counter(nn.Module):
    """How often does the first token occur again?"""

    def __init__(self, vocab=6, d=32, most=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(d, 2, 64, dropout=0.0, batch_first=True, norm_first=True) for _ in range(2))
        self.head = nn.Linear(d, most)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(x[:, 0])


def batch(n=48):
    ids = torch.randint(0, 6, (n, 8))
    return ids, (ids[:, 1:] == ids[:, :1]).sum(1)


torch.manual_seed(13)
net = Counter()
opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.LambdaLR(opt, schedule(15, 100))
for step in range(100):
    ids, y = batch()
    loss = nn.functional.cross_entropy(net(ids), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 20 == 0 or step == 99:
        print(f"{step} lr {opt.param_groups[0]['lr']:.5f} loss {loss.item():.4f}")
