import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
lstm = nn.LSTM(6, 8, batch_first=True)
head = nn.Linear(8, 3)

w = nn.Parameter(torch.cat([lstm.weight_ih_l0, lstm.weight_hh_l0], 1).detach())
b = nn.Parameter((lstm.bias_ih_l0 + lstm.bias_hh_l0).detach())
torch.manual_seed(5)
x, y = torch.randn(16, 5, 6), torch.randint(3, (16,))
h, c = torch.zeros(16, 8), torch.ones(16, 8)
for t in range(5):
    i, f, g, o = (torch.cat([x[:, t], h], 1) @ w.T + b).chunk(4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()  # <-- forward
    h = o.sigmoid() * c.tanh()
logits = F.log_softmax(head(h), -1)
loss = -logits.gather(1, y[:, None]).mean()
loss.backward()
