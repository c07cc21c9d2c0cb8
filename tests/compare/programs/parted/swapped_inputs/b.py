import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

model = nn.Linear(5, 4)
x, y = torch.randn(8, 5), torch.log_softmax(torch.randn(8, 4), -1)
log_p = F.log_softmax(model(x), dim=-1)
loss = F.kl_div(y, log_p, log_target=True)  # <-- forward
loss.backward()
