"""An image is optimized against the features of a network whose parameters stay as they are."""

import torch
from torch import nn

network = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1))
target = network(torch.rand(1, 3, 8, 8)).detach()
image = torch.rand(1, 3, 8, 8, requires_grad=True)
optimizer = torch.optim.LBFGS([image], max_iter=4)


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(network(image), target)
    loss.backward()
    return loss


for _ in range(6):
    optimizer.step(closure)
