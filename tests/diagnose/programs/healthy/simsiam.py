import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
enc = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
pred = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 8))
opt = torch.optim.SGD([*enc.parameters(), *pred.parameters()], lr=0.05)
for step in range(20):
    x = torch.randn(16, 8)
    z1, z2 = enc(x + 0.1 * torch.randn_like(x)), enc(x + 0.1 * torch.randn_like(x))
    p1, p2 = pred(z1), pred(z2)
    loss = -(F.cosine_similarity(p1, z2.detach()).mean() + F.cosine_similarity(p2, z1.detach()).mean()) / 2
    opt.zero_grad()
    loss.backward()
    opt.step()
