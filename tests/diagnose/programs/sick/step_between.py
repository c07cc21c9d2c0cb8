import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 1))
og, od = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
bce = nn.BCEWithLogitsLoss()
for step in range(20):
    real = torch.randn(16, 2) + 3
    fake = G(torch.randn(16, 4))
    gl = bce(D(fake), torch.ones(16, 1))
    dl = bce(D(real), torch.ones(16, 1)) + bce(D(fake.detach()), torch.zeros(16, 1))
    od.zero_grad()
    dl.backward()
    od.step()  # <-- overwritten
    og.zero_grad()
    gl.backward()
    og.step()
