"""Features are looked at with the encoder in evaluation; only the head returns to training."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2))
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(32, 3))

    def forward(self, x):
        return self.head(self.encoder(x))


def look(net, x):
    net.encoder.eval()  # <-- train_eval_mode
    with torch.no_grad():
        return net.encoder(x).mean().item()


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    net.head.train()
    for _ in range(6):
        x = torch.randn(32, 8)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), x[:, :3].argmax(1)).backward()
        optimizer.step()
    look(net, torch.randn(64, 8))
