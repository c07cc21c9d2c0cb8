"""A table gets more rows in training, and so does the output, each by itself."""

import torch
from torch import nn

torch.manual_seed(0)


class LM(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.mix = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, words, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, x):
        return self.out(self.mix(self.embed(x))[0])

    def grow(self, words):
        old = self.embed
        new = nn.Embedding(words, old.embedding_dim)
        with torch.no_grad():
            new.weight[: old.num_embeddings] = old.weight
        self.embed = new  # <-- untied_weights
        out = nn.Linear(old.embedding_dim, words, bias=False)
        with torch.no_grad():
            out.weight[: old.num_embeddings] = self.out.weight
        self.out = out


model = LM(20, 12)


def make(m):
    return torch.optim.Adam(m.parameters(), lr=0.01)


opt, words = make(model), 20
for step in range(30):
    if step == 10:
        words = 24
        model.grow(words)
        opt = make(model)
    x = torch.randint(0, words, (8, 6))
    loss = nn.functional.cross_entropy(model(x).flatten(0, 1), ((x + 1) % words).flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
