import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 16, 3))


def init(m):
    if isinstance(m, nn.Conv2d):
        nn.init.normal_(m.weight, -1.0, 0.01)  # <-- dead_relu


net.apply(init)
opt = torch.optim.SGD(net.parameters(), lr=1e-2)
for step in range(10):
    x = torch.rand(16, 1, 8, 8)
    y = torch.randint(0, 3, (16,))
    out = net(x)
    loss = F.cross_entropy(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
