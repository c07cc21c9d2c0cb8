import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(8, 16)
        self.b = nn.Linear(16, 3)

    @torch.no_grad()
    def features(self, x):
        return torch.tanh(self.embed(x))  # <-- missing

    def forward(self, x):
        return self.b(self.features(x))


net = Net()

opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(20):
    x = torch.randn(16, 8)
    y = torch.randint(0, 3, (16,))
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
