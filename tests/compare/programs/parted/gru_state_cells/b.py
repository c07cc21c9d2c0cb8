import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
gru = nn.GRU(6, 8, num_layers=2)
head = nn.Linear(8, 3)
cells = [nn.GRUCell(6, 8), nn.GRUCell(8, 8)]
for i, c in enumerate(cells):
    c.load_state_dict({k: getattr(gru, f"{k}_l{i}") for k in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")})
torch.manual_seed(5)
x, y = torch.randn(5, 16, 6), torch.randint(3, (16,))
h = [torch.zeros(16, 8), torch.full((16, 8), 0.1)]
for t in range(5):
    h[0] = cells[0](x[t], h[0])
    h[1] = cells[1](h[0], h[1])  # <-- forward
logits = F.log_softmax(head(h[1]), -1)
loss = -logits.gather(1, y[:, None]).mean()
loss.backward()
