import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def safe_sqrt(t):
    return torch.where(t > 0, t.sqrt(), torch.zeros_like(t))  # <-- nan


w = nn.Parameter(torch.randn(5))
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(10):
    x = torch.randn(8, 5).relu()
    x[:, 0] = 0
    loss = safe_sqrt((x * w).square()).mean() + (w**2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
