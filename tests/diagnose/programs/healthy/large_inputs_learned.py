import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
X = torch.rand(256, 1) * 1000
Y = X * 3 + 50 + torch.randn(256, 1) * 10
m = nn.Linear(1, 1)
o = torch.optim.Adam(m.parameters(), 0.3)
for step in range(60):
    i = torch.randint(0, 256, (64,))
    l = F.mse_loss(m(X[i]), Y[i])
    o.zero_grad()
    l.backward()
    o.step()
print(l.item())
