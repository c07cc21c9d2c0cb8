"""Word vectors with sparse gradients and SparseAdam."""
import torch
from torch import nn
import torch.nn.functional as F


class SkipGram(nn.Module):
    def __init__(self, words, dim):
        super().__init__()
        self.centre = nn.Embedding(words, dim, sparse=True)
        self.context = nn.Embedding(words, dim, sparse=True)
        nn.init.uniform_(self.centre.weight, -0.5 / dim, 0.5 / dim)
        nn.init.zeros_(self.context.weight)

    def forward(self, c, pos, neg):
        v = self.centre(c)
        good = (v * self.context(pos)).sum(-1)
        bad = torch.bmm(self.context(neg), v.unsqueeze(2)).squeeze(2)
        return -(F.logsigmoid(good) + F.logsigmoid(-bad).sum(1)).mean()


def corpus_batch(n, words, topics=10):
    c = torch.randint(0, words, (n,))
    size = words // topics
    pos = (c // size) * size + torch.randint(0, size, (n,))
    return c, pos, torch.randint(0, words, (n, 3))


if __name__ == "__main__":
    torch.manual_seed(14)
    words = 400
    model = SkipGram(words, 16)
    opt = torch.optim.SparseAdam(list(model.parameters()), lr=5e-2)
    for epoch in range(5):
        total = 0.0
        for _ in range(20):
            loss = model(*corpus_batch(64, words))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / 20:.4f}")
