"""A wide ReLU layer of which some units never fire."""
import torch
from torch import nn

torch.manual_seed(15)
net = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 32), nn.ReLU(), nn.Linear(32, 1))
with torch.no_grad():
    net[0].bias.add_(torch.linspace(-1.6, 1, 128))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
loss_fn = nn.HuberLoss()
for epoch in range(5):
    total, quiet = 0.0, torch.ones(128, dtype=torch.bool)
    for _ in range(20):
        x = torch.rand(64, 4) * 2 - 1
        y = (x[:, :1] * x[:, 1:2]) * 3 + x[:, 2:3]
        loss = loss_fn(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            quiet &= (net[1](net[0](x)) == 0).all(0)
        total += loss.item()
    print(f"epoch {epoch} loss {total / 20:.4f} quiet units {int(quiet.sum())}")
