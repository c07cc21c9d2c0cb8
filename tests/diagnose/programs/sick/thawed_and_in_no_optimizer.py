import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        return self.head(torch.relu(self.encoder(x)))


net = Net()
net.encoder.requires_grad_(False)
opt = torch.optim.Adam(filter(lambda p: p.requires_grad, net.parameters()), lr=1e-2)  # <-- not_in_optimizer
for step in range(20):
    if step == 6:
        net.encoder.requires_grad_(True)
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
