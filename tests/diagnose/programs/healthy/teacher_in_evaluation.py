import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 4))
opt = torch.optim.Adam(teacher.parameters(), lr=1e-2)
for step in range(10):
    x = torch.randn(32, 8)
    loss = F.cross_entropy(teacher(x), (x[:, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
teacher.eval().requires_grad_(False)
student = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))
opt = torch.optim.Adam(student.parameters(), lr=1e-2)
for step in range(10):
    x = torch.randn(32, 8)
    t = teacher(x)
    loss = F.kl_div(F.log_softmax(student(x), -1), F.softmax(t, -1), reduction="batchmean")
    opt.zero_grad()
    loss.backward()
    opt.step()
