import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = nn.Linear(8, 32), nn.Linear(32, 4)

    def forward(self, x):
        return F.softmax(self.l2(F.relu(self.l1(x))), dim=1)  # <-- missing_log


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(30):
    x = torch.randn(32, 8)
    loss = F.nll_loss(net(x), x[:, :4].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
