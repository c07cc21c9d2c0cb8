"""A language model whose output shares the embedding, and a teacher that began as its copy and follows it."""

import copy

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 16)
        self.mixing = nn.GRU(16, 16, batch_first=True)
        self.output = nn.Linear(16, 20, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, x):
        return self.output(self.mixing(self.embedding(x))[0])


student = Model()
teacher = copy.deepcopy(student).requires_grad_(False)
rival = copy.deepcopy(student)
optimizer = torch.optim.AdamW(student.parameters(), lr=5e-3)
other = torch.optim.AdamW(rival.parameters(), lr=5e-3)
for _ in range(20):
    tokens = (torch.randint(0, 20, (8, 1)) + torch.arange(10)) % 20
    x, y = tokens[:, :-1], tokens[:, 1:].flatten()
    with torch.no_grad():
        taught = teacher(x).flatten(0, 1).softmax(-1)
    scores = student(x).flatten(0, 1)
    loss = nn.functional.cross_entropy(scores, y) + nn.functional.kl_div(scores.log_softmax(-1), taught) * 0.1
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    other.zero_grad()
    nn.functional.cross_entropy(rival(x).flatten(0, 1), y).backward()
    other.step()
    with torch.no_grad():
        for mine, followed in zip(teacher.parameters(), student.parameters(), strict=True):
            mine.lerp_(followed, 0.1)
