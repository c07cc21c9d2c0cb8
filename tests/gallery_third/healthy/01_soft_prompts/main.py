"""Prompt tuning: the language model stays as it is, only a few prompt vectors learn."""
import torch
import torch.nn.functional as F
from torch import nn

from lm import TinyLM

VOCAB, LENGTH = 12, 10


def counting(n, stride):
    start = torch.randint(VOCAB, (n, 1))
    return (start + stride * torch.arange(LENGTH)) % VOCAB


def with_mark(n):
    """Each text begins with the mark of its language: how far it counts."""
    stride = torch.randint(1, 4, (n, 1))
    return torch.cat([VOCAB + stride - 1, counting(n, stride)], dim=1)


class Prompted(nn.Module):
    def __init__(self, lm, n=2):
        super().__init__()
        self.lm = lm.requires_grad_(False)
        self.prompt = nn.Parameter(0.1 * torch.randn(n, lm.tok.embedding_dim))

    def forward(self, ids):
        emb = self.lm.embed(ids)
        full = torch.cat([self.prompt.expand(len(ids), -1, -1), emb], dim=1)
        return self.lm(full)[:, len(self.prompt):]


torch.manual_seed(1)
lm = TinyLM(VOCAB + 3)
opt = torch.optim.AdamW(lm.parameters(), lr=5e-3)
for step in range(1, 71):
    ids = with_mark(48)
    loss = F.cross_entropy(lm(lm.embed(ids[:, :-1]))[:, 1:].flatten(0, 1), ids[:, 2:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(f"pretrain {step} loss {loss.item():.3f}")

model = Prompted(lm)
opt = torch.optim.Adam([model.prompt], lr=3e-2)
for step in range(1, 51):
    ids = counting(32, 2)
    loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print(f"prompt {step} loss {loss.item():.3f}")
