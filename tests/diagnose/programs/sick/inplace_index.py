import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Smooth(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(16))

    def forward(self, x):
        out = torch.tanh(x * self.w)
        for i in range(1, out.size(1)):
            out[:, i] = 0.5 * out[:, i] + 0.5 * out[:, i - 1]  # <-- overwritten
        return out


net = nn.Sequential(nn.Linear(8, 16), Smooth(), nn.Linear(16, 3))

opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(20):
    x = torch.randn(16, 8)
    y = torch.randint(0, 3, (16,))
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
