"""Sorts delivery notes: attention over the words of a note, padded to equal length."""

import torch
from torch import nn

PAD = 0


class NoteClassifier(nn.Module):
    def __init__(self, words=40, width=24, heads=3, classes=4):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.output = nn.Linear(width, classes)

    def forward(self, ids):
        padding = ids == PAD
        x = self.embedding(ids)
        attended, _ = self.attention(x, x, x, key_padding_mask=padding)
        x = self.norm(x + attended)
        x = x.masked_fill(padding[..., None], 0.0)
        return self.output(x.sum(1) / (~padding).sum(1, keepdim=True))


def notes(step):
    g = torch.Generator().manual_seed(40 + step)
    ids = torch.randint(1, 40, (6, 9), generator=g)
    lengths = torch.randint(3, 10, (6,), generator=g)
    ids[torch.arange(9) >= lengths[:, None]] = PAD
    return ids, ids.sum(1) % 4


if __name__ == "__main__":
    torch.manual_seed(12)
    model = NoteClassifier()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    for step in range(4):
        ids, labels = notes(step)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(ids), labels)
        loss.backward()
        optimizer.step()
        print(f"{step} {loss.item():.5f}")
