import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
lstm = nn.LSTM(6, 8, batch_first=True)
head = nn.Linear(8, 3)

torch.manual_seed(5)
x, y = torch.randn(16, 5, 6), torch.randint(3, (16,))
out, (h, c) = lstm(x)  # <-- forward
loss = F.cross_entropy(head(h[-1]), y)
loss.backward()
