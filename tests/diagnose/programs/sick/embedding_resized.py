"""A helper puts a larger embedding in place, and the output stays tied to the old one."""

import torch
from torch import nn

torch.manual_seed(0)


class Tied(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.mix = nn.Linear(width, width)
        self.out = nn.Linear(width, words, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, x):
        return self.out(torch.tanh(self.mix(self.embed(x))))


def grow(model, words):
    old = model.embed
    new = nn.Embedding(words, old.embedding_dim)
    new.weight.data[: old.num_embeddings] = old.weight.data
    model.embed = new  # <-- untied_weights


model = Tied(20, 12)
grow(model, 20)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(12):
    x = torch.randint(0, 20, (16,))
    loss = nn.functional.cross_entropy(model(x), (x + 1) % 20)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
