import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(3)
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 5))
x, y = torch.randn(12, 3, 8, 8), torch.randn(12, 5)
opt = torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9)
accumulate = 3
for step in range(3):
    opt.zero_grad(set_to_none=False)
    for i in range(accumulate):
        part = slice(4 * i, 4 * i + 4)
        out = net(x[part])
        loss = F.mse_loss(out, y[part])
        (loss / accumulate).backward()
    opt.step()
