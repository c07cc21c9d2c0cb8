"""Tagging threads whose messages may be empty: a row that is all padding gets a row of zeros."""
import torch
from torch import nn


class ThreadNet(nn.Module):
    def __init__(self, vocab=30, dim=24, tags=3):
        super().__init__()
        self.word = nn.Embedding(vocab, dim, padding_idx=0)
        self.query = nn.Parameter(0.3 * torch.randn(dim))
        self.key, self.value = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.out = nn.Linear(dim, tags)

    def forward(self, ids):
        x, pad = self.word(ids), ids == 0
        empty = pad.all(dim=1, keepdim=True)
        scores = (self.key(x) @ self.query) / self.query.numel() ** 0.5
        scores = scores.masked_fill(pad, float("-inf")).masked_fill(empty, 0.0)
        weights = scores.softmax(dim=1).masked_fill(pad, 0.0)
        return self.out((weights.unsqueeze(-1) * self.value(x)).sum(1))


def messages(n, longest=8, vocab=30):
    ids = torch.randint(1, vocab, (n, longest))
    lengths = torch.randint(0, longest + 1, (n,))
    ids = ids.masked_fill(torch.arange(longest) >= lengths.unsqueeze(1), 0)
    tag = torch.where(lengths == 0, 0, 1 + (ids > 24).any(1).long())
    return ids, tag


torch.manual_seed(231)
net = ThreadNet()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
for step in range(1, 81):
    ids, tag = messages(64)
    loss = nn.functional.cross_entropy(net(ids), tag)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f} empty rows {int((ids == 0).all(1).sum())}")
