"""A teacher is copied, frozen by a helper and run beside the student; the backbone of the student has a short name."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


def freeze(net):
    for p in net.parameters():
        p.requires_grad_(False)
    return net


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(8, 16)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(torch.relu(self.backbone(x)))


student = Student()
model = student
teacher = freeze(copy.deepcopy(model))
backbone = model.backbone
freeze(backbone)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(16, 8)
    with torch.no_grad():
        soft = teacher(x).softmax(-1)
        look = student(x)
    loss = F.kl_div(model(x).log_softmax(-1), soft, reduction="batchmean") + F.cross_entropy(model(x), soft.argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
