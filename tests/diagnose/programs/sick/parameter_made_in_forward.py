import torch
from torch import nn

torch.manual_seed(0)


class Pool(nn.Module):
    def forward(self, x):
        query = nn.Parameter(torch.randn(x.shape[-1]))  # <-- not_registered
        w = (x @ query).softmax(1)
        return (w.unsqueeze(-1) * x).sum(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(6, 16)
        self.pool = Pool()
        self.out = nn.Linear(16, 2)

    def forward(self, x):
        return self.out(self.pool(torch.tanh(self.inp(x))))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(12):
    x = torch.randn(32, 5, 6)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
