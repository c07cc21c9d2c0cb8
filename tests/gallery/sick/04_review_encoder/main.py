"""Sentiment of padded reviews with a small transformer encoder."""
import math

import torch
from torch import nn

PAD = 0


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, pad):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(d // self.heads)
        scores = scores.masked_fill(pad[:, None, None, :], float("-inf"))
        weights = scores.softmax(dim=-1)
        y = (weights @ v).transpose(1, 2).reshape(b, t, d)
        return self.proj(y)


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attn = Attention(dim, heads)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x, pad):
        x = x + self.attn(self.norm1(x), pad)
        return x + self.mlp(self.norm2(x))


class Encoder(nn.Module):
    def __init__(self, vocab, dim, heads, depth):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(Layer(dim, heads) for _ in range(depth))

    def forward(self, ids):
        pad = ids == PAD
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, pad)
        keep = (~pad).unsqueeze(-1).float()
        return (x * keep).sum(1) / keep.sum(1).clamp(min=1)


class Classifier(nn.Module):
    def __init__(self, vocab=40):
        super().__init__()
        self.encoder = Encoder(vocab, 32, 4, 2)
        self.head = nn.Linear(32, 2)

    def forward(self, ids):
        return self.head(self.encoder(ids))


def corpus(n=960, longest=12, vocab=40):
    lengths = torch.randint(3, longest + 1, (n,))
    lengths[663] = 0
    ids = torch.randint(1, vocab, (n, longest))
    ids[torch.arange(longest)[None, :] >= lengths[:, None]] = PAD
    label = ((ids > vocab // 2).sum(1) > (ids > 0).sum(1) / 2).long()
    return ids, label


def main():
    torch.manual_seed(1)
    ids, label = corpus()
    model = Classifier()
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    loss_fn = nn.CrossEntropyLoss()
    for step in range(60):
        part = slice(step * 16, (step + 1) * 16)
        loss = loss_fn(model(ids[part]), label[part])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 5 == 0:
            print("step", step, "loss", round(loss.item(), 4))


main()
