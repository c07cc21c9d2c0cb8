"""Warm-up by hand: the rate is set in the loop, it is zero in the first step."""
import torch
from torch import nn
import torch.nn.functional as F

CFG = dict(vocab=12, dim=48, length=10, warmup=15, steps=80, peak=6e-3)


class LSTMTagger(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.lstm = nn.LSTM(dim, dim, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * dim, 3)

    def forward(self, ids):
        return self.out(self.lstm(self.embed(ids))[0])


def sentences(n, vocab, length):
    ids = torch.randint(0, vocab, (n, length))
    before = torch.roll(ids, 1, dims=1)
    before[:, 0] = 0
    return ids, (ids > before).long() + (ids > 8).long()


def set_rate(optimizer, step, cfg):
    ramp = min(1.0, step / cfg["warmup"])
    for group in optimizer.param_groups:
        group["lr"] = cfg["peak"] * ramp


torch.manual_seed(210)
model = LSTMTagger(CFG["vocab"], CFG["dim"])
optimizer = torch.optim.Adam(model.parameters(), lr=0.0)
for step in range(CFG["steps"]):
    set_rate(optimizer, step, CFG)
    ids, tags = sentences(48, CFG["vocab"], CFG["length"])
    loss = F.cross_entropy(model(ids).transpose(1, 2), tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 16 == 15:
        print(f"step {step + 1} rate {optimizer.param_groups[0]['lr']:.4f} loss {loss.item():.4f}")
