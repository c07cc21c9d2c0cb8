import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(20):
    x = torch.randn(8, 6)
    z = F.normalize(torch.cat([net(x + 0.1 * torch.randn_like(x)), net(x + 0.1 * torch.randn_like(x))]), dim=1)
    sim = z @ z.T / 0.2
    sim.fill_diagonal_(float("-inf")) if False else None
    sim = sim.masked_fill(torch.eye(16, dtype=torch.bool), float("-inf"))
    loss = F.cross_entropy(sim, torch.arange(16).roll(8))
    opt.zero_grad()
    loss.backward()
    opt.step()
