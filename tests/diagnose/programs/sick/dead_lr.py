import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 32)
        self.b = nn.Linear(32, 32)
        self.c = nn.Linear(32, 1)

    def forward(self, x):
        return self.c(F.relu(self.b(F.relu(self.a(x)))))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=5.0)  # <-- dead_relu
x = torch.randn(30, 8)
y = x.sum(1, keepdim=True) * 3 - 5
for step in range(30):
    loss = F.smooth_l1_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
