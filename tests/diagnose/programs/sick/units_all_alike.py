"""Weights that begin with one number in all places."""

import torch, torch.nn as nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 16)
        self.b = nn.Linear(16, 16)
        self.c = nn.Linear(16, 3)
        self.reset()

    def reset(self):
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.constant_(m.weight, 0.1)  # <-- bad_init
                nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.c(torch.tanh(self.b(torch.tanh(self.a(x)))))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
X = torch.randn(128, 8)
Y = X[:, :3].argmax(1)
for s in range(30):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(X), Y)
    loss.backward()
    opt.step()
