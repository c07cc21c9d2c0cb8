import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 16)
        self.skip = nn.Linear(8, 16)
        self.b = nn.Linear(16, 3)

    def forward(self, x):
        h = F.relu(self.a(x))
        s = self.skip(x)
        with torch.no_grad():
            s = s * 0.1  # <-- missing
        return self.b(h + s)


net = Net()

opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(20):
    x = torch.randn(16, 8)
    y = torch.randint(0, 3, (16,))
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
