"""A network of which nine in ten weights of the wide layer are pruned; the mask stays while the rest learns."""
import torch
from torch import nn
from torch.nn.utils import prune


def sensors(n):
    x = torch.randn(n, 12)
    return x, torch.stack([x[:, 0] * x[:, 1], x[:, 2].abs() - 0.8], dim=1) + 0.05 * torch.randn(n, 2)


def run(net, steps, lr):
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    for step in range(1, steps + 1):
        x, y = sensors(96)
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} mse {loss.item():.4f}")


torch.manual_seed(229)
net = nn.Sequential(nn.Linear(12, 96), nn.ReLU(), nn.Linear(96, 48), nn.ReLU(), nn.Linear(48, 2))
run(net, 40, 5e-3)
prune.l1_unstructured(net[2], "weight", amount=0.9)
print("share left", (net[2].weight != 0).float().mean().item())
run(net, 40, 3e-3)
