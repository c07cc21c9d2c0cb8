"""A teacher that should be a copy is the student itself: freezing it freezes both."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


def make_teacher(model):
    teacher = model  # <-- frozen
    for p in teacher.parameters():
        p.requires_grad_(False)
    return teacher


student = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
head = nn.Linear(3, 3)
teacher = make_teacher(student)
optimizer = torch.optim.SGD([*student.parameters(), *head.parameters()], lr=0.1)
for step in range(20):
    x, y = torch.randn(16, 8), torch.randint(0, 3, (16,))
    with torch.no_grad():
        soft = teacher(x).softmax(-1)
    out = head(student(x))
    loss = F.cross_entropy(out, y) + F.kl_div(out.log_softmax(-1), soft, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
