import torch
from torch import nn
import numpy as np


class Series:
    def __init__(self, n=400):
        rng = np.random.default_rng(0)
        self.ts = 1.7e9 + np.arange(n) * 30.0
        self.v = np.sin(np.arange(n) / 10) + rng.normal(size=n) * 0.1

    def features(self):
        t = torch.tensor(self.ts, dtype=torch.float32)  # <-- precision_lost
        t = (t - t[0]) / 3600
        return t.unsqueeze(1), torch.tensor(self.v, dtype=torch.float32).unsqueeze(1)


torch.manual_seed(0)
X, Y = Series().features()
net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
o = torch.optim.Adam(net.parameters(), 1e-2)
for step in range(30):
    i = torch.randint(0, 400, (64,))
    l = nn.functional.mse_loss(net(X[i]), Y[i])
    o.zero_grad()
    l.backward()
    o.step()
