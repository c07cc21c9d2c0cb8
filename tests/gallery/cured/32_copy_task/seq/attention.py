import torch
from torch import nn


class MultiHead(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = (f(x).view(n, t, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = torch.einsum("nhqc,nhkc->nhqk", q, k) * (d // self.heads) ** -0.5
        attn = torch.softmax(scores, dim=-1)
        y = torch.einsum("nhqk,nhkc->nqhc", attn, v).reshape(n, t, d)
        return self.o(y)
