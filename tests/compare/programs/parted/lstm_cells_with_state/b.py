import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
lstm = nn.LSTM(5, 12)
head = nn.Linear(12, 2)
x, y = torch.randn(6, 4, 5), torch.randn(6, 4, 2)
cell = nn.LSTMCell(5, 12)
cell.load_state_dict({k[:-3]: v for k, v in lstm.state_dict().items()})
h, c = torch.ones(4, 12), torch.zeros(4, 12)  # <-- forward
out = []
for t in range(6):
    h, c = cell(x[t], (h, c))  # <-- forward
    out.append(h)
loss = F.mse_loss(head(torch.stack(out)), y)
loss.backward()
