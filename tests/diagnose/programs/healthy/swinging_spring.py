"""A spring's motion, theta'' = -theta + a known force, learned from its equation: the last layer is met by it alone."""

import torch
from torch import nn

torch.manual_seed(0)
swing = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(swing.parameters(), lr=1e-2)

for step in range(30):
    time = torch.linspace(0, 3, 40).unsqueeze(1).requires_grad_()
    speed = torch.autograd.grad(swing(time).sum(), time, create_graph=True)[0]
    acceleration = torch.autograd.grad(speed.sum(), time, create_graph=True)[0]
    equation = acceleration + torch.sin(2 * time)
    start = swing(torch.zeros(1, 1)) - 1
    loss = equation.pow(2).mean() + start.pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(f"{step + 1} loss {loss.item():.4f}")
