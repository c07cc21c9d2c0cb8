import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 1))
og, od = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
for step in range(20):
    for _ in range(2):
        real = torch.randn(16, 2) + 3
        with torch.no_grad():
            fake = G(torch.randn(16, 4))
        a = torch.rand(16, 1)
        mix = (a * real + (1 - a) * fake).requires_grad_(True)
        (g,) = torch.autograd.grad(D(mix).sum(), mix, create_graph=True)
        d = D(fake).mean() - D(real).mean() + 10 * ((g.norm(2, dim=1) - 1) ** 2).mean()
        od.zero_grad()
        d.backward()
        od.step()
    og.zero_grad()
    (-D(G(torch.randn(16, 4))).mean()).backward()
    og.step()
