import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

model = nn.Linear(5, 4)
x, y = torch.randn(8, 5), torch.randint(0, 4, (8,))
logits = model(x)
loss = F.nll_loss(F.log_softmax(logits, dim=1), y)  # <-- forward
loss.backward()
