# scripted for the C++ runtime
import torch
import torch.nn as nn


class OffsetBias(nn.Module):
    """A learned bias for the offset of two places, in buckets of four."""

    def __init__(self, heads, width=4, buckets=12):
        super().__init__()
        self.width, self.buckets = width, buckets
        self.table = nn.Embedding(buckets, heads)

    def forward(self, t):
        place = torch.arange(t)
        offset = place[None, :] - place[:, None]
        bucket = torch.div(offset, self.width, rounding_mode="trunc")
        bucket = (bucket + self.buckets // 2).clamp(0, self.buckets - 1)
        return self.table(bucket).permute(2, 0, 1)


class BiasedAttention(nn.Module):
    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.bias = OffsetBias(heads)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / (d / self.heads) ** 0.5
        scores = scores + self.bias(t)
        return self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(n, t, d))


class SiteModel(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.base = nn.Embedding(4, dim)
        self.attn = BiasedAttention(dim)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, seq):
        x = self.base(seq)
        x = self.norm(x + self.attn(x))
        return self.out(x).squeeze(-1)


torch.manual_seed(90)
model = SiteModel()
opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
seq = torch.randint(0, 4, (2, 6, 24))
site = (seq == 2).float()
for step in range(2):
    loss = nn.functional.binary_cross_entropy_with_logits(model(seq[step]), site[step])
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
