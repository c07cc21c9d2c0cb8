import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
l = [nn.Linear(10, 10) for _ in range(6)]
norms = [nn.LayerNorm(10) for _ in range(6)]
head = nn.Linear(10, 4)
torch.manual_seed(5)
x, y = torch.randn(20, 10), torch.randint(4, (20,))

h = x
for f, n in zip(l, norms):
    h = h + F.silu(f(n(h)))  # <-- forward bias
loss = F.cross_entropy(head(h), y)
loss.backward()
