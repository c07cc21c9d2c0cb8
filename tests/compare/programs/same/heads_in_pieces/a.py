import math
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
D, H = 16, 2
embed = nn.Embedding(11, D)
norm = nn.LayerNorm(D)
qkv = nn.Linear(D, 3 * D)
proj = nn.Linear(D, D)
head = nn.Linear(D, 11, bias=False)

head.weight = embed.weight
opt = torch.optim.SGD([*embed.parameters(), *norm.parameters(), *qkv.parameters(), *proj.parameters()], lr=0.1)
torch.manual_seed(5)
for _ in range(1):
    ids = torch.randint(11, (4, 7))
    x = embed(ids)
    q, k, v = qkv(norm(x)).chunk(3, -1)
    q, k, v = (t.view(4, 7, H, D // H).transpose(1, 2) for t in (q, k, v))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    x = x + proj(out.transpose(1, 2).reshape(4, 7, D))
    loss = F.cross_entropy(head(x)[:, :-1].reshape(-1, 11), ids[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
