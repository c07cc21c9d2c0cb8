import torch
from torch import nn

torch.manual_seed(2)
student = nn.Linear(6, 5)
x = torch.randn(10, 6)
teacher = torch.randn(10, 5)
T = 4.0
logp = torch.log_softmax(student(x) / T, 1)
q = torch.softmax(teacher / T, 1)
loss = (q * (q.log() - logp)).sum(1).mean() * T  # <-- forward
loss.backward()
