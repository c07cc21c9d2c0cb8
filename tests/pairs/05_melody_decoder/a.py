"""Next-note model, forward and a few steps."""

import torch
import torch.nn as nn
import torch.nn.functional as F

NOTES, DIM, HEADS = 40, 24, 3


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(DIM, DIM)
        self.k = nn.Linear(DIM, DIM, bias=False)
        self.v = nn.Linear(DIM, DIM)
        self.o = nn.Linear(DIM, DIM)

    def forward(self, x):
        n, t, _ = x.shape
        q, k, v = (f(x).view(n, t, HEADS, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(out.transpose(1, 2).reshape(n, t, DIM))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = SelfAttention()
        self.ff = nn.Sequential(nn.Linear(DIM, 48), nn.ReLU(), nn.Linear(48, DIM))
        self.n1, self.n2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)

    def forward(self, x):
        x = self.n1(x + self.attention(x))
        return self.n2(x + self.ff(x))


class Melody(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(NOTES, DIM)
        self.layers = nn.ModuleList([Layer(), Layer()])
        self.head = nn.Linear(DIM, NOTES)

    def forward(self, notes):
        x = self.embed(notes)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def tunes(n=8, t=20):
    g = torch.Generator().manual_seed(12)
    steps = torch.randint(-3, 4, (n, t + 1), generator=g)
    return (steps.cumsum(1) + 20).clamp(0, NOTES - 1)


def build():
    torch.manual_seed(5)
    return Melody()


def train(model):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    batch = tunes()
    for step in range(2):
        logits = model(batch[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), batch[:, 1:])
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, round(loss.item(), 6))


if __name__ == "__main__":
    train(build())
