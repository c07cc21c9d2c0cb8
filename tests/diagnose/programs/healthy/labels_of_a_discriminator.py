import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
Dn = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 1))
og = torch.optim.Adam(G.parameters())
od = torch.optim.Adam(Dn.parameters())
bce = nn.BCEWithLogitsLoss()
real_label = torch.tensor(0.9)
for step in range(20):
    real = torch.randn(32, 2) * 0.5 + 1
    z = torch.randn(32, 4)
    fake = G(z)
    od.zero_grad()
    ld = bce(Dn(real), real_label.expand(32, 1)) + bce(Dn(fake.detach()), torch.zeros(32, 1))
    ld.backward()
    od.step()
    og.zero_grad()
    lg = bce(Dn(fake), torch.tensor([[1.0]] * 32))
    lg.backward()
    og.step()
