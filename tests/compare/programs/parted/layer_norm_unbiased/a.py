import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(12, 24)
        self.norm = nn.LayerNorm(24)
        self.fc2 = nn.Linear(24, 5)

    def forward(self, x):
        h = torch.relu(self.fc1(x))
        return self.fc2(self.norm(h))  # <-- forward


net = Net()
x = torch.randn(16, 12)
y = torch.randint(0, 5, (16,))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = F.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
