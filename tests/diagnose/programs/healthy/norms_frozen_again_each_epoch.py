"""Fine-tuning with frozen statistics: batch norms alone are set to evaluation, behind each train()."""

import torch
from torch import nn

torch.manual_seed(0)


def freeze_statistics(net):
    for m in net.modules():
        if isinstance(m, nn.BatchNorm1d):
            m.eval()


net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
net.load_state_dict({name: value.clone() for name, value in net.state_dict().items()})
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    net.train()
    freeze_statistics(net)
    for _ in range(6):
        x = torch.randn(32, 8)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), x[:, :3].argmax(1)).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        x = torch.randn(32, 8)
        print(nn.functional.cross_entropy(net(x), x[:, :3].argmax(1)).item())
