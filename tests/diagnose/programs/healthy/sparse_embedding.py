import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
e = nn.Embedding(100, 8, sparse=True)
h = nn.Linear(8, 3)
oe, oh = torch.optim.SparseAdam(e.parameters()), torch.optim.Adam(h.parameters())
for step in range(20):
    loss = F.cross_entropy(h(e(torch.randint(0, 10, (16, 4))).mean(1)), torch.randint(0, 3, (16,)))
    oe.zero_grad()
    oh.zero_grad()
    loss.backward()
    oe.step()
    oh.step()
