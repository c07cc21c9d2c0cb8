import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def cross_entropy(logits, y):
    p = torch.softmax(logits, dim=1)
    return -torch.log(p[torch.arange(len(y)), y]).mean()  # <-- nan


net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.5)
for step in range(30):
    x = torch.randn(16, 4)
    y = torch.randint(0, 3, (16,))
    if step >= 10:
        x = x * 300
    loss = cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
