import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.nn.Parameter(torch.randn(8, 3))
scale = torch.nn.Parameter(torch.ones(3))
opt = torch.optim.SGD([w, scale], lr=0.1)
for step in range(10):
    x = torch.randn(16, 8)
    y = torch.randint(0, 3, (16,))
    s = torch.tensor([float(v) for v in scale])  # <-- missing
    loss = F.cross_entropy(x @ w * s, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
