import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
rule = torch.randn(8, 1)


def train(scale):
    net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(20):
        x = torch.randn(32, 8)
        loss = F.mse_loss(net(x), x @ rule * scale)
        opt.zero_grad()
        loss.backward()
        opt.step()


for scale in (1, 100):
    train(scale)
