import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
gru = nn.GRU(6, 8, num_layers=2)
head = nn.Linear(8, 3)
torch.manual_seed(5)
x, y = torch.randn(5, 16, 6), torch.randint(3, (16,))
out, _ = gru(x)  # <-- forward
loss = F.cross_entropy(head(out[-1]), y)
loss.backward()
