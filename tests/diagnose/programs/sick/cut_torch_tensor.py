import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(8, 4) for _ in range(3))
        self.head = nn.Linear(12, 3)

    def forward(self, x):
        parts = [e(x).tolist() for e in self.experts]  # <-- missing
        h = torch.tensor(parts).permute(1, 0, 2).reshape(len(x), -1)
        return self.head(h)


net = Net()

opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(20):
    x = torch.randn(16, 8)
    y = torch.randint(0, 3, (16,))
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
