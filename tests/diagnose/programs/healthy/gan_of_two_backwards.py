import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=2e-3)
opt_d = torch.optim.Adam(D.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()
for step in range(20):
    fake = G(torch.randn(32, 4))
    opt_g.zero_grad()
    bce(D(fake), torch.ones(32, 1)).backward()
    opt_g.step()
    opt_d.zero_grad()
    real = torch.randn(32, 2) + 2
    bce(D(real), torch.ones(32, 1)).backward()
    bce(D(fake.detach()), torch.zeros(32, 1)).backward()
    opt_d.step()
