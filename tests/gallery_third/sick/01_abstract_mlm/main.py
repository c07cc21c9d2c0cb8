"""Masked language model on short abstracts."""
import torch
from torch import nn

from mlm.objective import corrupt, mlm_loss
from mlm.texts import FIRST, LETTERS, buckets


class Reader(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.embed = nn.Embedding(FIRST + LETTERS, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.norm = nn.LayerNorm(2 * dim)
        self.out = nn.Linear(2 * dim, FIRST + LETTERS)

    def forward(self, ids):
        h, _ = self.rnn(self.embed(ids))
        return self.out(self.norm(h))


def main():
    torch.manual_seed(11)
    g = torch.Generator().manual_seed(12)
    model = Reader()
    optimizer = torch.optim.AdamW(model.parameters(), lr=8e-3)
    for step, ids in enumerate(buckets(), 1):
        inputs, picked = corrupt(ids, g)
        loss = mlm_loss(model(inputs), ids, picked)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 8 == 0:
            print(f"step {step} loss {loss.item():.4f} length {ids.shape[1]}")


if __name__ == "__main__":
    main()
