import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
teacher = nn.Linear(8, 4).requires_grad_(False)
student = nn.Linear(8, 4)
opt = torch.optim.Adam(student.parameters(), lr=1e-2)
for step in range(30):
    x = torch.randn(32, 8)
    t = teacher(x)
    loss = F.kl_div(F.softmax(student(x) / 2, -1), F.softmax(t / 2, -1), reduction="batchmean")  # <-- missing_log
    opt.zero_grad()
    loss.backward()
    opt.step()
