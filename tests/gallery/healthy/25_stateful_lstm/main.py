"""Truncated backpropagation through time with a detached state."""
import torch
from torch import nn


class Echo(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state):
        h, state = self.rnn(x, state)
        return self.out(h), state


def repackage(state):
    return None if state is None else tuple(s.detach() for s in state)


torch.manual_seed(25)
net = Echo()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
signal = torch.randn(8, 10 * 100 + 2, 1)
state = None
for chunk in range(100):
    part = slice(chunk * 10 + 2, chunk * 10 + 12)
    x, y = signal[:, part], signal[:, chunk * 10:chunk * 10 + 10]
    state = repackage(state)
    pred, state = net(x, state)
    loss = nn.functional.mse_loss(pred, y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    opt.step()
    if chunk % 20 == 19:
        print(f"chunk {chunk + 1} loss {loss.item():.4f}")
