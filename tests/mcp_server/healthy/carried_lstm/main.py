"""The next value of a sum of waves: an LSTM that carries its state from piece to piece of one long series."""

import torch
from torch import nn

torch.manual_seed(5)
PIECE = 25

time = torch.arange(1001.0)
waves = torch.stack([torch.sin(time / 7 + phase) + 0.5 * torch.sin(time / 3.1 + phase) for phase in (0.0, 0.9, 2.0)])
series = (waves + 0.05 * torch.randn_like(waves)).unsqueeze(-1)


class Forecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, num_layers=2, batch_first=True, dropout=0.1)
        self.out = nn.Linear(hidden, 1)

    def forward(self, values, state):
        hidden, state = self.lstm(values, state)
        return self.out(hidden), state


model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
losses = []
for epoch in range(3):
    state = None
    for start in range(0, 1000, PIECE):
        values, wanted = series[:, start : start + PIECE], series[:, start + 1 : start + PIECE + 1]
        if state is not None:
            state = tuple(part.detach() for part in state)
        predicted, state = model(values, state)
        loss = nn.functional.mse_loss(predicted, wanted)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch} loss {losses[-1]:.4f}")
print(f"loss from {losses[0]:.4f} to {losses[-1]:.4f}")
