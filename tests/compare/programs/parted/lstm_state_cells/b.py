import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
lstm = nn.LSTM(6, 8, batch_first=True)
head = nn.Linear(8, 3)

cell = nn.LSTMCell(6, 8)
with torch.no_grad():
    cell.weight_ih.copy_(lstm.weight_ih_l0)
    cell.weight_hh.copy_(lstm.weight_hh_l0)
    cell.bias_ih.copy_(lstm.bias_ih_l0)
    cell.bias_hh.copy_(lstm.bias_hh_l0)
torch.manual_seed(5)
x, y = torch.randn(16, 5, 6), torch.randint(3, (16,))
h, c = torch.zeros(16, 8), torch.ones(16, 8)
for t in range(5):
    h, c = cell(x[:, t], (h, c))  # <-- forward
logits = F.log_softmax(head(h), -1)
loss = -logits.gather(1, y[:, None]).mean()
loss.backward()
