import torch
from torch import nn


class Conditioned(nn.Module):
    """Takes a condition that is left out, all zeros, in this stage of training."""

    def __init__(self):
        super().__init__()
        self.data = nn.Linear(6, 16)
        self.condition = nn.Linear(4, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, x, c=None):
        if c is None:
            c = torch.zeros(len(x), 4)
        return self.head(torch.relu(self.data(x) + self.condition(c)))


net = Conditioned()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(30):
    x = torch.randn(16, 6)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
