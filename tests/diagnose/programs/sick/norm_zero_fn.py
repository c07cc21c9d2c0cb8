import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 8)
        self.b = nn.Linear(8, 3)

    def forward(self, x):
        h = torch.relu(self.a(x))
        h = h / h.norm(dim=1, keepdim=True)  # <-- nan
        return self.b(h)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(20):
    x = torch.randn(16, 4)
    y = torch.randint(0, 3, (16,))
    if i == 7:
        x[3] = 0
        with torch.no_grad():
            net.a.bias.fill_(-0.1)
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
