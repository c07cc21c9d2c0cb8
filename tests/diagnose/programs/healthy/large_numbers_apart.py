import torch
from torch import nn
from torch.nn import functional as F
import numpy as np

torch.manual_seed(0)
price = torch.randn(256) * 3000 + 100000
temp = 300 + torch.randn(256) * 5
year = torch.randint(1990, 2020, (256,))
im = torch.randint(0, 256, (256, 1, 4, 4), dtype=torch.uint8)
X = torch.stack(
    [(price - price.mean()) / price.std(), (temp - temp.mean()) / temp.std(), (year.float() - 2005) / 10], 1
)
Y = X.sum(1, keepdim=True)
ts = torch.tensor(1.7e9 + np.arange(256) * 30.0)
hour = torch.sin(2 * np.pi * (ts % 86400) / 86400).float().unsqueeze(1)
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
o = torch.optim.Adam(net.parameters(), 1e-3)
bn = nn.BatchNorm1d(4)
total = 0.0
run = torch.zeros(())
ema = None
const = torch.full((64, 3), 123456.7)
cn = const - const.mean()
half = torch.randn(4096).half()
big = torch.randn(4096) * 1000
bh = big.half()
b2 = big.bfloat16()
pos = torch.arange(64).float()
for step in range(30):
    i = torch.randint(0, 256, (64,))
    x = torch.cat([X[i], hour[i]], 1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        p = net(bn(x))
    l = F.mse_loss(p.float(), Y[i]) + 1e-8
    o.zero_grad()
    l.backward()
    o.step()
    run = run + l.detach()
    total += l.item()
    cnt = torch.tensor(0.0) if step == 0 else cnt + 1
    ema = l.detach() if ema is None else 0.9 * ema + 0.1 * l.detach()
    g = (p.detach() + 1e-8).log1p() if False else None
