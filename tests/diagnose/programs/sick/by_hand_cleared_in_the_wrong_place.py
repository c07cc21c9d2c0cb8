"""Of two networks that are updated by hand, only the first is cleared."""

import torch
from torch import nn

torch.manual_seed(0)
encoder, head = nn.Linear(8, 16), nn.Linear(16, 1)
for step in range(30):
    x = torch.randn(32, 8)
    loss = nn.functional.mse_loss(head(torch.tanh(encoder(x))), x.sum(1, keepdim=True))
    loss.backward()  # <-- zero_grad
    with torch.no_grad():
        for p in [*encoder.parameters(), *head.parameters()]:
            p -= 0.01 * p.grad
    encoder.zero_grad()
