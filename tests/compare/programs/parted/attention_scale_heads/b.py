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


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(D, D // H) for _ in range(3))


heads = nn.ModuleList([Head() for _ in range(H)])
out_w = nn.ParameterList([nn.Parameter(torch.empty(D // H, D)) for _ in range(H)])
out_b = nn.Parameter(torch.empty(D))
with torch.no_grad():
    for i, each in enumerate(heads):
        for j, part in enumerate((each.q, each.k, each.v)):
            rows = slice(j * D + i * D // H, j * D + (i + 1) * D // H)
            part.weight.copy_(qkv.weight[rows])
            part.bias.copy_(qkv.bias[rows])
        out_w[i].copy_(proj.weight[:, i * D // H : (i + 1) * D // H].T)
    out_b.copy_(proj.bias)
head.weight = embed.weight
opt = torch.optim.SGD([*embed.parameters(), *norm.parameters(), *heads.parameters(), *out_w, out_b], lr=0.1)
mask = torch.full((7, 7), float("-inf")).triu(1)
torch.manual_seed(5)
for _ in range(1):
    ids = torch.randint(11, (4, 7))
    x = embed(ids)
    y = norm(x)
    new = out_b
    for each, w in zip(heads, out_w):
        q, k, v = each.q(y), each.k(y), each.v(y)
        scores = q @ k.transpose(1, 2) / math.sqrt(D)  # <-- forward scaled
        new = new + (scores + mask).softmax(-1) @ v @ w
    x = x + new
    logits = F.log_softmax(head(x)[:, :-1], -1)
    loss = -logits.gather(2, ids[:, 1:, None]).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
