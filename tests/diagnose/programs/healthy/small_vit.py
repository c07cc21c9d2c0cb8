"""A vision transformer with a class token, stochastic depth and label smoothing."""

import torch
import torch.nn as nn


class DropPath(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0:
            return x
        keep = torch.bernoulli(torch.full((len(x), 1, 1), 1 - self.p))
        return x * keep / (1 - self.p)


class Layer(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.n1, self.att = nn.LayerNorm(d), nn.MultiheadAttention(d, 4, batch_first=True)
        self.n2, self.mlp = nn.LayerNorm(d), nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
        self.drop = DropPath(p)

    def forward(self, x):
        y = self.n1(x)
        x = x + self.drop(self.att(y, y, y, need_weights=False)[0])
        return x + self.drop(self.mlp(self.n2(x)))


class ViT(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.patch = nn.Conv2d(3, d, 4, 4)
        self.cls = nn.Parameter(torch.zeros(1, 1, d))
        self.pos = nn.Parameter(torch.zeros(1, 17, d))
        nn.init.trunc_normal_(self.pos, std=0.02)
        self.layers = nn.ModuleList(Layer(d, 0.1 * i) for i in range(3))
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, 4)
        nn.init.zeros_(self.head.weight)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.pos
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x)[:, 0])


net = ViT()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.05)
crit = nn.CrossEntropyLoss(label_smoothing=0.1)
protos = torch.randn(4, 3, 16, 16)
for step in range(20):
    y = torch.randint(0, 4, (16,))
    x = protos[y] + 0.5 * torch.randn(16, 3, 16, 16)
    loss = crit(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
