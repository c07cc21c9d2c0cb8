import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

fc = nn.Linear(6, 6)
teacher = torch.softmax(torch.randn(5, 6), -1)
x = torch.randn(5, 6)
log_p = torch.log_softmax(fc(x), -1)  # <-- forward
loss = (teacher * (teacher.log() - log_p)).sum() / 5
loss.backward()
