"""Per-residue labels of protein pieces; the later batches have pieces of different length."""
import torch
from torch import nn
import torch.nn.functional as F


class Labeller(nn.Module):
    def __init__(self, residues=20, dim=24, labels=3):
        super().__init__()
        self.embed = nn.Embedding(residues, dim)
        self.left = nn.Conv1d(dim, dim, 3, padding=1)
        self.right = nn.Conv1d(dim, dim, 3, padding=1)
        self.out = nn.Linear(dim, labels)

    def mix(self, x, padding):
        h = torch.sigmoid(self.left(x)) * torch.tanh(self.right(x))
        g = torch.tanh(h + x)
        if padding.any():
            g = g.masked_fill(padding.unsqueeze(1), 0.0)
        return g

    def forward(self, ids, padding):
        x = self.embed(ids).transpose(1, 2)
        return self.out(self.mix(x, padding).transpose(1, 2))


def pieces(n, length, ragged):
    ids = torch.randint(0, 20, (n, length))
    before, after = torch.roll(ids, 1, 1), torch.roll(ids, -1, 1)
    y = ((before > ids).long() + (after > ids).long())
    lengths = torch.randint(length // 2, length + 1, (n,)) if ragged else torch.full((n,), length)
    padding = torch.arange(length) >= lengths.unsqueeze(1)
    return ids, y.masked_fill(padding, -100), padding


torch.manual_seed(124)
model = Labeller()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(1, 61):
    ids, y, padding = pieces(32, 16, ragged=step > 16)
    loss = F.cross_entropy(model(ids, padding).transpose(1, 2), y, ignore_index=-100)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 8 == 0:
        print(f"step {step} loss {loss.item():.4f}", flush=True)
