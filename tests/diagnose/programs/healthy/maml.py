import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = nn.Parameter(torch.randn(8, 3) * 0.1)
opt = torch.optim.Adam([w], lr=1e-2)
for step in range(20):
    total = 0
    for task in range(3):
        x = torch.randn(8, 8)
        y = torch.randint(0, 3, (8,))
        (g,) = torch.autograd.grad(F.cross_entropy(x @ w, y), w, create_graph=True)
        fast = w - 0.1 * g
        total = total + F.cross_entropy(torch.randn(8, 8) @ fast, y)
    opt.zero_grad()
    total.backward()
    opt.step()
