import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (each.view(batch, time, self.heads, -1).transpose(1, 2) for each in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)  # <-- forward mask
        return self.out(y.transpose(1, 2).reshape(batch, time, width))


attention = Attention(16, 4)
x = torch.randn(2, 7, 16)
loss = attention(x).pow(2).sum()
loss.backward()
