import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))

    def forward(self, x):
        z = self.embed(x)
        delta = z[:, None, :] - z[None, :, :]
        distance = torch.sqrt((delta**2).sum(-1))  # <-- nan
        return distance


model = Pairs()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
x = torch.randn(6, 8)
target = torch.rand(6, 6)
for step in range(20):
    opt.zero_grad()
    loss = F.mse_loss(model(x), target)
    loss.backward()
    opt.step()
