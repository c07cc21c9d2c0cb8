import torch
from torch import nn

torch.manual_seed(0)


def dense(x, n):
    layer = nn.Linear(x.shape[-1], n)  # <-- not_registered
    return torch.relu(layer(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 16)
        self.out = nn.Linear(12, 2)

    def forward(self, x):
        x = torch.relu(self.first(x))
        return self.out(dense(x, 12))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(12):
    x = torch.randn(32, 6)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
