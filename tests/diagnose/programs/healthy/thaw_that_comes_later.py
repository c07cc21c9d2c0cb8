import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(6, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        return self.head(torch.relu(self.encoder(x)))


net = Net()
net.encoder.requires_grad_(False)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(6):
    if epoch == 50:
        for name, p in net.named_parameters():
            if name.startswith("encoder"):
                p.requires_grad = True
    x = torch.randn(32, 6)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
