"""Three attributes of one portrait vector with a shared trunk."""
import torch
from torch import nn

from tasks.losses import multitask_loss


class Portrait(nn.Module):
    def __init__(self, columns=16, width=48):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(columns, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.smile = nn.Linear(width, 1)
        self.pose = nn.Linear(width, 3)
        self.age = nn.Linear(width, 1)

    def forward(self, x):
        h = self.trunk(x)
        return {"smile": self.smile(h).squeeze(1), "pose": self.pose(h), "age": self.age(h).squeeze(1)}


def portraits(n, w):
    x = torch.randn(n, 16)
    f = x @ w
    age = torch.tanh(f[:, 4]) + 0.05 * torch.randn(n)
    return x, {"smile": (f[:, 0] > 0).float(), "pose": f[:, 1:4].argmax(1), "age": age}


torch.manual_seed(109)
w = torch.randn(16, 5) / 4
net = Portrait()
optimizer = torch.optim.AdamW(net.parameters(), lr=5e-3)
for step in range(75):
    x, target = portraits(96, w)
    loss, parts = multitask_loss(net(x), target)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if (step + 1) % 15 == 0:
        print(step + 1, " ".join(f"{k} {v:.4f}" for k, v in parts.items()))
