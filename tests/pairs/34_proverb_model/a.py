"""Checkpointed decoder, fused attention, tied output."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from common import BLOCK, DIM, HEADS, LAYERS, VOCAB, batch, initial


class Block(nn.Module):
    def __init__(self, p, i):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM, bias=False)
        self.proj = nn.Linear(DIM, DIM, bias=False)
        self.up, self.down = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)
        self.load_state_dict(
            {
                "ln1.weight": p[f"{i}.ln1"],
                "ln1.bias": p[f"{i}.ln1_b"],
                "ln2.weight": p[f"{i}.ln2"],
                "ln2.bias": p[f"{i}.ln2_b"],
                "qkv.weight": p[f"{i}.qkv"],
                "proj.weight": p[f"{i}.proj"],
                "up.weight": p[f"{i}.up"],
                "up.bias": p[f"{i}.up_b"],
                "down.weight": p[f"{i}.down"],
                "down.bias": p[f"{i}.down_b"],
            }
        )

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = (y.view(n, t, HEADS, -1).transpose(1, 2) for y in self.qkv(self.ln1(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(n, t, d))
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))


class Proverbs(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.tok = nn.Embedding.from_pretrained(p["tok"], freeze=False)
        self.pos = nn.Embedding.from_pretrained(p["pos"], freeze=False)
        self.blocks = nn.ModuleList(Block(p, i) for i in range(LAYERS))
        self.ln = nn.LayerNorm(DIM)
        self.ln.load_state_dict({"weight": p["ln"], "bias": p["ln_b"]})
        self.head = nn.Linear(DIM, VOCAB, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(self.ln(x))


def main():
    model = Proverbs(initial())
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        x, y = batch(step)
        loss = F.cross_entropy(model(x).view(-1, VOCAB), y.view(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
