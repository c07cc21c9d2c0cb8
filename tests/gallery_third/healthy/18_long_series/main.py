"""Truncated backpropagation over long machine logs; the state goes on, the graph does not."""
from typing import Optional

import torch
from torch import Tensor, nn


class LogModel(nn.Module):
    def __init__(self, dim: int = 24) -> None:
        super().__init__()
        self.cell = nn.GRUCell(2, dim)
        self.head = nn.Linear(dim, 1)

    def forward(self, chunk: Tensor, state: Optional[Tensor] = None) -> tuple[Tensor, Tensor]:
        out = []
        for x in chunk.unbind(1):
            state = self.cell(x, state)
            out.append(self.head(state))
        return torch.cat(out, dim=1), state


def logs(machines: int = 16, length: int = 480) -> tuple[Tensor, Tensor]:
    drive = torch.randn(machines, length, 2)
    heat = torch.zeros(machines)
    track = []
    for t in range(length):
        heat = 0.85 * heat + 0.3 * drive[:, t, 0] - 0.1 * drive[:, t, 1]
        track.append(heat)
    return drive, torch.stack(track, 1)


def repackage(state: Optional[Tensor]) -> Optional[Tensor]:
    return None if state is None else state.detach()


torch.manual_seed(18)
model = LogModel()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
drive, heat = logs()
for epoch in range(2):
    state = None
    for k in range(0, drive.shape[1], 12):
        state = repackage(state)
        guess, state = model(drive[:, k : k + 12], state)
        loss = (guess - heat[:, k : k + 12]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
    print(f"epoch {epoch}: last chunk {loss.item():.5f}")
