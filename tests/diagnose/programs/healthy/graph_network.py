"""Messages along the edges of a graph, summed up at the nodes; few nodes have labels."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Conv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.own, self.nb = nn.Linear(i, o), nn.Linear(i, o, bias=False)

    def forward(self, x, edge):
        src, dst = edge
        deg = torch.zeros(len(x)).index_add_(0, dst, torch.ones(len(dst))).clamp(min=1)
        m = torch.zeros_like(x).index_add_(0, dst, x[src]) / deg[:, None]
        return self.own(x) + self.nb(m)


N = 60
label = torch.arange(N) % 3
src = torch.randint(0, N, (600,))
dst = torch.randint(0, N, (600,))
keep = (label[src] == label[dst]) | (torch.rand(600) < 0.1)
edge = torch.stack([src[keep], dst[keep]])
x = torch.randn(N, 8) + F.one_hot(label, 8)
train = torch.zeros(N, dtype=torch.bool)
train[:15] = True
c1, c2 = Conv(8, 16), Conv(16, 3)
opt = torch.optim.Adam([*c1.parameters(), *c2.parameters()], lr=1e-2, weight_decay=5e-4)
for epoch in range(40):
    h = F.dropout(F.relu(c1(x, edge)), 0.5)
    out = c2(h, edge)
    loss = F.cross_entropy(out[train], label[train])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 10 == 9:
        with torch.no_grad():
            pred = c2(F.relu(c1(x, edge)), edge).argmax(1)
            acc = (pred[~train] == label[~train]).float().mean()
