import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 12)
        self.mixing = nn.Linear(12, 12)
        self.out = nn.Linear(12, 30)
        self.tie()

    def tie(self):
        self.out.weight = self.embedding.weight

    def forward(self, x):
        return self.out(torch.tanh(self.mixing(self.embedding(x).mean(1))))


torch.manual_seed(0)
net = Net()
net.embedding.weight = nn.Parameter(torch.randn(30, 12))
net.tie()
teacher = copy.deepcopy(net)
sgd = torch.optim.SGD(net.parameters(), 0.1)
for step in range(20):
    x = torch.randint(0, 30, (16, 4))
    with torch.no_grad():
        target = teacher(x)
    loss = nn.functional.cross_entropy(net(x), x[:, 0]) + 0.1 * (net(x) - target).pow(2).mean()
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    with torch.no_grad():
        for mine, its in zip(net.parameters(), teacher.parameters()):
            its.lerp_(mine, 0.1)
