"""Each look at held-out data sets the batch norms to evaluation, one by one; nobody sets them back."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 32)
        self.bn = nn.BatchNorm1d(32)
        self.b = nn.Linear(32, 3)

    def forward(self, x):
        return self.b(torch.relu(self.bn(self.a(x))))


@torch.no_grad()
def validate(net, x):
    for layer in net.children():
        if isinstance(layer, nn.BatchNorm1d):
            layer.eval()  # <-- train_eval_mode
    return nn.functional.cross_entropy(net(x), x[:, :3].argmax(1)).item()


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    for _ in range(6):
        x = torch.randn(32, 8)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), x[:, :3].argmax(1)).backward()
        optimizer.step()
    validate(net, torch.randn(64, 8))
