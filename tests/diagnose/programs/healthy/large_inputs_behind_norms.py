import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
bn = nn.Sequential(nn.BatchNorm2d(1), nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 2))
ln = nn.Sequential(nn.Linear(5, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 1))
em = nn.Embedding(5000, 8)
hd = nn.Linear(8, 1)
lr_ = nn.Linear(4, 1)
ps = [*bn.parameters(), *ln.parameters(), *em.parameters(), *hd.parameters(), *lr_.parameters()]
o = torch.optim.Adam(ps, 1e-2)
for step in range(20):
    im = torch.randint(0, 256, (16, 1, 8, 8)).float()
    y = (im.mean((1, 2, 3)) > 127).long()
    pr = torch.rand(16, 5) * 5000 + 100
    yy = (pr[:, -1] / pr[:, 0] - 1).unsqueeze(1)
    tok = torch.randint(0, 5000, (16, 4))
    l = (
        F.cross_entropy(bn(im), y)
        + F.mse_loss(ln(pr), yy)
        + F.mse_loss(hd(em(tok).mean(1)), torch.ones(16, 1))
        + F.mse_loss(lr_(pr[:, 1:] / pr[:, :1]), yy)
    )
    o.zero_grad()
    l.backward()
    o.step()
