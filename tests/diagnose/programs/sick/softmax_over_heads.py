import torch
from torch import nn
import math


class Attn(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.q = nn.Linear(d, d)
        self.k = nn.Linear(d, d)
        self.v = nn.Linear(d, d)
        self.o = nn.Linear(d, d)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = (l(x).view(B, T, self.h, D // self.h).transpose(1, 2) for l in (self.q, self.k, self.v))
        a = q @ k.transpose(-2, -1) / math.sqrt(D // self.h)
        m = torch.triu(torch.ones(T, T, dtype=torch.bool), 1)
        a = a.masked_fill(m, float("-inf"))
        w = self.drop(torch.softmax(a, dim=1))  # <-- softmax_axis
        return self.o((w @ v).transpose(1, 2).reshape(B, T, D))


torch.manual_seed(0)
emb = nn.Embedding(20, 16)
at = Attn(16, 2)
head = nn.Linear(16, 20)
o = torch.optim.Adam([*emb.parameters(), *at.parameters(), *head.parameters()], 1e-2)
for step in range(20):
    t = torch.randint(0, 20, (8, 7))
    l = nn.functional.cross_entropy(head(at(emb(t[:, :-1]))).flatten(0, 1), t[:, 1:].flatten())
    o.zero_grad()
    l.backward()
    o.step()
