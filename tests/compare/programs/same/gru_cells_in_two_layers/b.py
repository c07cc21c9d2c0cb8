import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
gru = nn.GRU(5, 8, num_layers=2, batch_first=True)
head = nn.Linear(8, 2)
x, y = torch.randn(4, 6, 5), torch.randn(4, 2)
cells = [nn.GRUCell(5, 8), nn.GRUCell(8, 8)]
for i, c in enumerate(cells):
    c.load_state_dict({k: getattr(gru, f"{k}_l{i}") for k in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")})
hs = [x.new_zeros(4, 8) for _ in cells]
for t in range(6):
    inp = x[:, t]
    for i, c in enumerate(cells):
        hs[i] = inp = c(inp, hs[i])
loss = F.mse_loss(head(hs[-1]), y)
loss.backward()
