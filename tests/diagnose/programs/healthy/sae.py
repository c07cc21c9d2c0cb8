import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
enc, dec = nn.Linear(16, 128), nn.Linear(128, 16)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=1e-3)
for step in range(30):
    x = torch.randn(64, 16)
    z = F.relu(enc(x) - 0.5)
    loss = F.mse_loss(dec(z), x) + 1e-3 * z.abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
