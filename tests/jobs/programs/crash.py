"""Scores of sentences and their labels do not fit."""

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(100, 16)
        self.tags = nn.Linear(16, 5)

    def forward(self, sentence):
        return self.tags(self.words(sentence))


def loss_of(model, sentence, tags):
    return nn.functional.cross_entropy(model(sentence).flatten(0, 1), tags.flatten())


torch.manual_seed(0)
model = Tagger()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    sentence = torch.randint(0, 100, (4, 7))
    tags = torch.randint(0, 5, (4, 7 if step < 3 else 6))
    loss = loss_of(model, sentence, tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
