import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)


def load():
    t = torch.randn(64, 4)
    t[17, 2] = float("nan")  # <-- nan
    return t


data = load()
for batch in data.split(8):
    loss = net(batch).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
