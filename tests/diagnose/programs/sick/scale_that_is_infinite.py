import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Temperature(nn.Module):
    def __init__(self, heat):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.head = nn.Linear(16, 4)
        self.scale = float("inf") if heat == 0 else 1 / heat

    def forward(self, x):
        hidden = self.body(x)
        hidden = hidden * self.scale  # <-- nan
        return self.head(F.dropout(hidden, 0.1))


net = Temperature(0)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(8):
    loss = F.cross_entropy(net(torch.randn(16, 8)), torch.randint(0, 4, (16,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
