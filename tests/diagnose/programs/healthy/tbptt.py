import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
rnn = nn.LSTM(4, 16, batch_first=True)
head = nn.Linear(16, 4)
opt = torch.optim.Adam([*rnn.parameters(), *head.parameters()])
seq = torch.randn(4, 60, 4)
state = None
for t in range(0, 60, 6):
    x = seq[:, t : t + 6]
    y, state = rnn(x, state)
    state = tuple(s.detach() for s in state)
    loss = F.mse_loss(head(y), x.roll(-1, 1))
    opt.zero_grad()
    loss.backward()
    opt.step()
