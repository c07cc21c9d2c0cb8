"""Semi-supervised learning with an averaged teacher."""
import copy

import torch
from torch import nn
import torch.nn.functional as F


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))

    def forward(self, x):
        return self.net(x)


@torch.no_grad()
def update_teacher(teacher, student, decay):
    for t, s in zip(teacher.parameters(), student.parameters()):
        t.mul_(decay).add_(s, alpha=1 - decay)


def moons(n):
    y = torch.randint(0, 2, (n,))
    a = torch.rand(n) * 3.14159
    x = torch.stack([a.cos() + y, a.sin() * (1 - 2 * y) + 0.4 * y], 1)
    return x + 0.1 * torch.randn(n, 2), y


torch.manual_seed(7)
student = MLP()
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)
teacher.eval()
opt = torch.optim.Adam(student.parameters(), lr=1e-2)
xl, yl = moons(24)
for step in range(100):
    xu, _ = moons(96)
    sup = F.cross_entropy(student(xl), yl)
    with torch.no_grad():
        target = teacher(xu).softmax(-1)
    cons = F.mse_loss(student(xu + 0.1 * torch.randn_like(xu)).softmax(-1), target)
    loss = sup + min(1.0, step / 40) * cons
    opt.zero_grad()
    loss.backward()
    opt.step()
    update_teacher(teacher, student, 0.95)
    if step % 20 == 19:
        x, y = moons(300)
        print(f"{step + 1} loss {loss.item():.4f} teacher accuracy {(teacher(x).argmax(1) == y).float().mean():.3f}")
