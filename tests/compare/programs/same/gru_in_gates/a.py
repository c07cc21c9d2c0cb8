import torch
from torch import nn

torch.manual_seed(3)
gru = nn.GRU(6, 8, batch_first=True)
head = nn.Linear(8, 3)
torch.manual_seed(5)
x, y = torch.randn(16, 5, 6), torch.randint(3, (16,))
out, _ = gru(x)
loss = nn.functional.cross_entropy(head(out[:, -1]), y)
loss.backward()
