"""Linear attention with decay, in its parallel form."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Retention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.g = nn.Linear(dim, dim)
        self.o = nn.Linear(dim, dim)
        self.register_buffer("gamma", 1 - 2.0 ** (-2 - torch.arange(heads)))

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = (w(x).view(n, t, self.heads, -1).transpose(1, 2) for w in (self.q, self.k, self.v))
        age = torch.arange(t)[:, None] - torch.arange(t)[None, :]
        decay = torch.where(age >= 0, self.gamma[:, None, None] ** age.clamp(min=0), 0.0)
        y = ((q @ k.transpose(-1, -2)) * decay) @ v
        y = F.rms_norm(y, y.shape[-1:], eps=1e-3)
        y = y.transpose(1, 2).reshape(n, t, d)
        return self.o(y * F.silu(self.g(x)))


class Recall(nn.Module):
    def __init__(self, symbols=12, dim=16, heads=2):
        super().__init__()
        self.embed = nn.Embedding(symbols, dim)
        self.layers = nn.ModuleList(Retention(dim, heads) for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(2))
        self.out = nn.Linear(dim, symbols)

    def forward(self, ids):
        x = self.embed(ids)
        for layer, norm in zip(self.layers, self.norms):
            x = x + layer(norm(x))
        return self.out(x)


def strings(step, n=4, t=16):
    g = torch.Generator().manual_seed(step)
    ids = torch.randint(0, 12, (n, t + 1), generator=g)
    ids[:, 8:] = ids[:, : t + 1 - 8]
    return ids[:, :-1], ids[:, 1:]


if __name__ == "__main__":
    torch.manual_seed(65)
    model = Recall()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(2):
        x, y = strings(step)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())
