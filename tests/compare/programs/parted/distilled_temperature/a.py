import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
student = nn.Linear(6, 5)
x = torch.randn(10, 6)
teacher = torch.randn(10, 5)
T = 4.0
logp, q = F.log_softmax(student(x) / T, 1), F.softmax(teacher / T, 1)
loss = F.kl_div(logp, q, reduction="batchmean") * T * T  # <-- forward
loss.backward()
