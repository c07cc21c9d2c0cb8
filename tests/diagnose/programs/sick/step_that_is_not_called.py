import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(15):
    x = torch.randn(16, 5)
    loss = nn.functional.mse_loss(net(x), x[:, :1])
    opt.zero_grad()
    loss.backward()
    opt.step  # <-- step_order
