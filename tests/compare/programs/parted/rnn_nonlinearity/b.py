import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
rnn = nn.RNN(4, 6, batch_first=True)
x = torch.randn(3, 5, 4)
h = torch.zeros(3, 6)
for t in range(5):
    of_input = F.linear(x[:, t], rnn.weight_ih_l0, rnn.bias_ih_l0)
    of_state = F.linear(h, rnn.weight_hh_l0, rnn.bias_hh_l0)
    h = torch.relu(of_input + of_state)  # <-- forward
loss = h.square().mean()
loss.backward()
