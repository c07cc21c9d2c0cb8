import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
ds = TensorDataset(torch.randn(256, 6), torch.randn(256, 1))
loader = DataLoader(ds, batch_size=8)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
accum = 4
for i, (x, y) in enumerate(loader):
    opt.zero_grad()  # <-- zero_grad
    loss = nn.functional.mse_loss(net(x), y) / accum
    loss.backward()
    if (i + 1) % accum == 0:
        opt.step()
