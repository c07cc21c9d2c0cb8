import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def distance(a, b):
    return (a - b).pow(2).sum(-1).sqrt()  # <-- nan


scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
for step in range(10):
    x = torch.randn(8, 4)
    out = net(x)
    loss = distance(out, out.detach() if step == 3 else x).mean()
    opt.zero_grad()
    scaler.scale(loss).backward()
    for p in net.parameters():
        p.grad /= scaler.get_scale()
    opt.step()
