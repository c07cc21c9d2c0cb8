"""A transformer from scratch: a causal mask of -inf, tied output, warm-up and cosine, two groups of parameters."""

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

V, T, D = 24, 12, 32


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.register_buffer("mask", torch.tril(torch.ones(T, T)).view(1, 1, T, T))

    def forward(self, x):
        B, n, _ = x.shape
        q, k, v = (a.view(B, n, 4, D // 4).transpose(1, 2) for a in self.qkv(x).split(D, 2))
        att = (q @ k.transpose(-2, -1)) / math.sqrt(D // 4)
        att = att.masked_fill(self.mask[:, :, :n, :n] == 0, float("-inf")).softmax(-1)
        return self.proj((att @ v).transpose(1, 2).reshape(B, n, D))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.att, self.ln2 = nn.LayerNorm(D), Attention(), nn.LayerNorm(D)
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D), nn.Dropout(0.1))

    def forward(self, x):
        x = x + self.att(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, D), nn.Embedding(T, D)
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.ln, self.head = nn.LayerNorm(D), nn.Linear(D, V, bias=False)
        self.wte.weight = self.head.weight
        self.apply(self._init)

    def _init(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=0.02)
        if isinstance(m, nn.Linear) and m.bias is not None:
            nn.init.zeros_(m.bias)

    def forward(self, x):
        h = self.wte(x) + self.wpe(torch.arange(x.shape[1]))
        for b in self.blocks:
            h = b(h)
        return self.head(self.ln(h))


net = GPT()
decay = [p for p in net.parameters() if p.dim() > 1]
rest = [p for p in net.parameters() if p.dim() < 2]
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=3e-3)
STEPS = 25
for step in range(STEPS):
    lr = 3e-3 * (step / 5 if step < 5 else 0.5 * (1 + math.cos(math.pi * (step - 5) / (STEPS - 5))))
    for g in opt.param_groups:
        g["lr"] = lr
    s = (torch.randint(0, V, (16, 1)) + torch.arange(T + 1) * 3) % V
    loss = F.cross_entropy(net(s[:, :-1]).reshape(-1, V), s[:, 1:].reshape(-1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
net.eval()
with torch.no_grad():
    s = torch.zeros(1, 1, dtype=torch.long)
    for _ in range(10):
        p = net(s[:, -T:])[:, -1]
        v, _ = torch.topk(p, 5)
        p[p < v[:, [-1]]] = -float("inf")
        s = torch.cat([s, torch.multinomial(p.softmax(-1), 1)], 1)
