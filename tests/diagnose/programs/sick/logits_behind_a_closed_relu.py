"""A head whose bias starts below 0, with a relu behind it ahead of the loss on logits."""

import torch
from torch import nn

torch.manual_seed(0)


def block(n_in, n_out):
    return nn.Sequential(
        nn.Linear(n_in, n_out),
        nn.ReLU(inplace=True),  # <-- dead_relu
    )


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 24), nn.Tanh())
        self.head = block(24, 6)

    def forward(self, x):
        return self.head(self.body(x))


net = Net()
nn.init.constant_(net.head[0].bias, -2.0)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(30):
    x = torch.randn(32, 10)
    y = (x[:, :6] > 1).float()
    loss = nn.functional.binary_cross_entropy_with_logits(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
