import torch
from torch import nn

from focal import FocalLoss
from payments import month

torch.manual_seed(1)
gen = torch.Generator().manual_seed(22)
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = FocalLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

for step in range(1, 91):
    x, fraud = month(64, gen, large=step > 40)
    out = net(x).squeeze(1)
    loss = criterion(out, fraud)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f} right {((out > 0) == (fraud > 0)).float().mean():.3f}")
