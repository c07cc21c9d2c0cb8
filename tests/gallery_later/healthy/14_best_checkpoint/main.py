"""Training with a test every epoch; the best weights are put back at the end."""
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def leaves(n, centres):
    y = torch.randint(0, 5, (n,))
    return TensorDataset(centres[y] + 0.9 * torch.randn(n, 12), y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(12, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.3),
            nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 5),
        )

    def forward(self, x):
        return self.layers(x)


@torch.inference_mode()
def test(net, loader):
    net.eval()
    right = sum((net(x).argmax(1) == y).sum().item() for x, y in loader)
    return right / len(loader.dataset)


def train_one(net, loader, opt):
    net.train()
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y, label_smoothing=0.05)
        loss.backward()
        opt.step()
    return loss.item()


torch.manual_seed(214)
centres = torch.randn(5, 12)
train, valid = DataLoader(leaves(320, centres), 32, shuffle=True), DataLoader(leaves(200, centres), 100)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
best, state = 0.0, None
for epoch in range(7):
    loss = train_one(net, train, opt)
    score = test(net, valid)
    if score > best:
        best, state = score, copy.deepcopy(net.state_dict())
    print(f"epoch {epoch} loss {loss:.4f} accuracy {score:.3f}")
net.load_state_dict(state)
print(f"kept {test(net, valid):.3f}")
