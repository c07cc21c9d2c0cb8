"""Rows of a tied table are reset in training by a new parameter."""

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


def reset_rare(model, rows):
    weight = model.embed.weight.detach().clone()
    weight[rows] = weight.mean(0)
    model.embed.weight = nn.Parameter(weight)  # <-- untied_weights


model = LM(20, 12)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(30):
    if step == 10:
        reset_rare(model, [1, 2])
        opt = torch.optim.Adam(model.parameters(), lr=0.01)
    x = torch.randint(0, 20, (8, 6))
    loss = nn.functional.cross_entropy(model(x).flatten(0, 1), ((x + 1) % 20).flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
