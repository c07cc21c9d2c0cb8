import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(8, 16), nn.Linear(16, 16), nn.Linear(16, 2)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = self.fc2(x)  # <-- forward bfloat16
        return self.fc3(torch.relu(x))


net = Net()
x = torch.randn(12, 8)
loss = net(x).square().mean()
loss.backward()
