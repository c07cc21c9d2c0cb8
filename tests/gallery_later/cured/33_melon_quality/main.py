"""Quality of melons from weight, sound and colour."""
import torch
from torch import nn

from fruit.net import MelonNet
from fruit.market import melons


def train(net, steps, lr):
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    loss_fn = nn.MSELoss()
    for step in range(steps):
        x, y = melons(64)
        optimizer.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            print("step", step + 1, "loss", round(loss.item(), 4))


torch.manual_seed(133)
net = MelonNet()
net.reset_parameters()
train(net, steps=80, lr=1e-2)
