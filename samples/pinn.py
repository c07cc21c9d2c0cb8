"""A physics-informed network: it solves u'' = -u with u(0) = 0, u'(0) = 1 by the second derivative of a network."""

import math

import graphscope as torch
import graphscope.nn as nn

POINTS = 40
STEPS = 200

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.linspace(0.0, math.pi, POINTS).reshape(-1, 1).requires_grad_()


def derivative(y, x):
    (dy,) = torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)
    return dy


for step in range(STEPS):
    u = x * model(x)  # zero at the start, whatever the network says
    du = derivative(u, x)
    ddu = derivative(du, x)
    physics = ((ddu + u) ** 2).mean()
    start = (du[0] - 1.0) ** 2
    loss = physics + start.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1}: loss {loss.item():.5f}")

worst = (u - torch.sin(x)).abs().max().item()
print(f"farthest from the sine: {worst:.4f}")

# The backward pass goes through rules of rules: `nodes backward and op:tanh` lists those of the first derivative, too.
print("Question: x.grad is not asked for by the optimizer, and yet it is filled. Which pass does that, and with what?")
