"""After a while dropouts are set to p=0 and to evaluation on purpose: the end of a training goes without."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(30):
    if step == 20:
        for m in net.modules():
            if isinstance(m, nn.Dropout):
                m.eval()
    x = torch.randn(32, 8)
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), x[:, :3].argmax(1)).backward()
    optimizer.step()
