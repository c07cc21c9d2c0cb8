"""Length of calls from the signals before them: a packed LSTM of two layers."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

SIGNALS, STATE = 4, 8


class Calls(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(SIGNALS, STATE, num_layers=2, batch_first=True)
        self.head = nn.Sequential(nn.Linear(2 * STATE, 6), nn.LeakyReLU(0.1), nn.Linear(6, 1))

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        states, (h, _) = self.lstm(packed)
        states, _ = pad_packed_sequence(states, batch_first=True)
        mean = states.sum(1) / lengths[:, None]
        return self.head(torch.cat([h[-1], mean], 1))[:, 0]


def calls(step):
    g = torch.Generator().manual_seed(190 + step)
    lengths = torch.randint(2, 8, (6,), generator=g)
    x = torch.randn(6, 7, SIGNALS, generator=g)
    return x, lengths, x[:, 0, 0] * 2 + lengths / 4


if __name__ == "__main__":
    torch.manual_seed(19)
    model = Calls()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01, alpha=0.9, momentum=0.5)
    for step in range(4):
        x, lengths, y = calls(step)
        loss = nn.functional.smooth_l1_loss(model(x, lengths), y, beta=0.7)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.8)
        optimizer.step()
        print(step, f"{loss.item():.6f}")
