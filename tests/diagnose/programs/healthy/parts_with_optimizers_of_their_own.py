import torch
from torch import nn

torch.manual_seed(0)
enc, dec = nn.Linear(8, 3), nn.Linear(3, 8)
opt_e = torch.optim.Adam(enc.parameters(), lr=1e-2)
opt_d = torch.optim.Adam(dec.parameters(), lr=1e-2)
for step in range(15):
    x = torch.randn(16, 8)
    opt_e.zero_grad()
    opt_d.zero_grad()
    nn.functional.mse_loss(dec(enc(x)), x).backward()
    opt_e.step()
    (0.01 * dec.weight.abs().sum() + 0.01 * dec.bias.abs().sum()).backward()
    opt_d.step()
