import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.empty(16, 4)
nn.init.xavier_uniform_(w)
w = nn.Parameter(w)
out = torch.empty(100)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(10):
    x = torch.randn(8, 16)
    loss = (x @ w).pow(2).mean()
    out[step] = loss.item()
    opt.zero_grad()
    loss.backward()
    opt.step()
