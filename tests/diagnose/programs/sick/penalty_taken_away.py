import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
lam = 1e-2
for step in range(60):
    x = torch.randn(32, 8)
    mse = nn.functional.mse_loss(net(x), x[:, :1])
    l2 = sum((p**2).sum() for p in net.parameters())
    loss = mse - lam * l2  # <-- wrong_sign
    opt.zero_grad()
    loss.backward()
    opt.step()
