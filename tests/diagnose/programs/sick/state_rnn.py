import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 16, batch_first=True)
        self.out = nn.Linear(16, 4)
        self.state = None

    def forward(self, x):
        y, self.state = self.rnn(x, self.state)  # <-- state_not_detached
        return self.out(y)


m = Model()
opt = torch.optim.SGD(m.parameters(), lr=1e-2)
seq = torch.randn(4, 60, 4)
for t in range(0, 60, 6):
    x = seq[:, t : t + 6]
    loss = F.mse_loss(m(x), x.roll(-1, 1))
    opt.zero_grad()
    loss.backward()
    opt.step()
