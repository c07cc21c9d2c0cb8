import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(3)
D, H = 24, 4
qkv = nn.Linear(D, 3 * D)
out = nn.Linear(D, D)
x = torch.randn(2, 9, D)
y = torch.randn(2, 9, D)
opt = torch.optim.Adam([*qkv.parameters(), *out.parameters()], lr=1e-3)
for step in range(3):
    q, k, v = qkv(x).split(D, -1)
    q, k, v = (t.view(2, 9, H, D // H).transpose(1, 2) for t in (q, k, v))
    o = F.scaled_dot_product_attention(q, k, v)  # <-- forward
    loss = F.mse_loss(out(o.transpose(1, 2).reshape(2, 9, D)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
