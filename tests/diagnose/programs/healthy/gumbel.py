import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
opt = torch.optim.Adam(net.parameters())
for step in range(20):
    x = torch.randn(8, 4)
    z = F.gumbel_softmax(net(x), tau=max(0.1, 1 - step / 20), hard=True)
    loss = (z @ torch.tensor([1.0, 2.0, 3.0])).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
