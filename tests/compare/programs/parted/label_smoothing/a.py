import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

model = nn.Linear(5, 4)
x, y = torch.randn(8, 5), torch.randint(0, 4, (8,))
logits = model(x)
loss = F.cross_entropy(logits, y, label_smoothing=0.1)  # <-- forward cross_entropy
loss.backward()
