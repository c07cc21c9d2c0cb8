"""A student learns from the softened scores of a teacher that was trained before."""

import torch
import torch.nn as nn
import torch.nn.functional as F

w = torch.randn(10, 4)


def batch(n=32):
    x = torch.randn(n, 10)
    return x, (x @ w).argmax(-1)


teacher = nn.Sequential(nn.Linear(10, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 4))
opt = torch.optim.SGD(teacher.parameters(), lr=0.1, momentum=0.9)
teacher.train()
for _ in range(25):
    x, y = batch()
    loss = F.cross_entropy(teacher(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
teacher.eval()
student = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 4))
opt = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)
T = 4.0
for _ in range(25):
    x, y = batch()
    with torch.no_grad():
        soft = F.softmax(teacher(x) / T, dim=1)
    out = student(x)
    loss = 0.3 * F.cross_entropy(out, y) + 0.7 * T * T * F.kl_div(
        F.log_softmax(out / T, 1), soft, reduction="batchmean"
    )
    opt.zero_grad()
    loss.backward()
    opt.step()
