import torch
import torch.nn as nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(5, 16)
        self.b = nn.Linear(16, 1)

    def forward(self, x):
        h = torch.relu(self.a(x))
        h = torch.relu(nn.Linear(16, 16)(h))  # <-- not_registered
        return self.b(h)


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(15):
    x = torch.randn(32, 5)
    loss = nn.functional.mse_loss(net(x), x[:, :1])
    opt.zero_grad()
    loss.backward()
    opt.step()
