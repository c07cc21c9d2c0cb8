"""Traffic volume of road junctions from a graph of counties."""
import torch

from roads.counties import county
from roads.net import JunctionNet


def train(steps=70):
    torch.manual_seed(101)
    net = JunctionNet(5, 24)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(1, steps + 1):
        x, adjacency, volume = county(rural=step > 30)
        predicted = net(x, adjacency)
        loss = torch.nn.functional.smooth_l1_loss(predicted, volume)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"{step:3d}  loss {loss.item():.4f}")


train()
