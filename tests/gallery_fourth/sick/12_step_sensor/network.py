from torch import nn


class ActivityNet(nn.Module):
    def __init__(self, axes=4, hidden=24, kinds=3):
        super().__init__()
        self.lift = nn.Linear(axes, hidden)
        self.lstm = nn.LSTM(hidden, hidden)
        self.out = nn.Linear(hidden, kinds)

    def forward(self, x):
        batch, length, axes = x.shape
        x = x.reshape(length, batch, axes)  # the LSTM wants time first
        states, _ = self.lstm(self.lift(x).tanh())
        return self.out(states.mean(0))
