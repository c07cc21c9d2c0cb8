import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
qkv, proj, head = nn.Linear(32, 96), nn.Linear(32, 32), nn.Linear(32, 7)
w, b = (
    [t.detach().clone().requires_grad_() for t in qkv.weight.split(8)],
    [t.detach().clone().requires_grad_() for t in qkv.bias.split(8)],
)
torch.manual_seed(5)
x, y = torch.randn(4, 9, 32), torch.randint(7, (4,))
with torch.autocast("cpu", torch.bfloat16):
    parts = []
    for i in range(4):
        q, k, v = (x @ w[i + 4 * j].T + b[i + 4 * j] for j in range(3))
        parts.append(torch.softmax(q @ k.mT * 8**-0.5, -1).to(v.dtype) @ v)
    h = torch.cat(parts, -1) @ proj.weight.T + proj.bias
    logits = F.linear(h.float().mean(1), head.weight, head.bias)
lp = F.log_softmax(logits.float(), -1)
loss = -lp[torch.arange(4), y].mean()
loss.backward()
