"""Unit-tested recipe: label smoothing, mixup, one-cycle schedule stepped per batch, clipping, EMA of the loss."""
from dataclasses import dataclass

import torch
from torch import nn
import torch.nn.functional as F


@dataclass
class Hparams:
    steps: int = 100
    batch: int = 48
    max_lr: float = 2e-2
    clip: float = 1.0
    smoothing: float = 0.1
    mixup: float = 0.2


class Tabular(nn.Module):
    def __init__(self, cats=12, nums=6, classes=4):
        super().__init__()
        self.embed = nn.Embedding(cats, 6)
        self.body = nn.Sequential(nn.Linear(nums + 6, 64), nn.LayerNorm(64), nn.Mish(), nn.Linear(64, classes))

    def forward(self, num, cat):
        return self.body(torch.cat([num, self.embed(cat)], 1))


def draw(n, w):
    num, cat = torch.randn(n, 6), torch.randint(0, 12, (n,))
    return num, cat, (num @ w + F.one_hot(cat % 4, 4)).argmax(1)


def main(hp):
    torch.manual_seed(38)
    w = torch.randn(6, 4)
    model = Tabular()
    decay = [p for p in model.parameters() if p.ndim > 1]
    rest = [p for p in model.parameters() if p.ndim <= 1]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}], lr=hp.max_lr)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, hp.max_lr, total_steps=hp.steps)
    average = None
    for step in range(hp.steps):
        num, cat, y = draw(hp.batch, w)
        lam = float(torch.distributions.Beta(hp.mixup, hp.mixup).sample())
        perm = torch.randperm(hp.batch)
        out = model(lam * num + (1 - lam) * num[perm], cat)
        loss = lam * F.cross_entropy(out, y, label_smoothing=hp.smoothing) \
            + (1 - lam) * F.cross_entropy(out, y[perm], label_smoothing=hp.smoothing)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), hp.clip)
        opt.step()
        sched.step()
        average = loss.item() if average is None else 0.95 * average + 0.05 * loss.item()
        if step % 20 == 19:
            print(f"step {step + 1} loss {average:.4f} lr {sched.get_last_lr()[0]:.5f}")


main(Hparams())
