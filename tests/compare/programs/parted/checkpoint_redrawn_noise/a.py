import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(22)
encoder, decoder = nn.Linear(12, 9), nn.Linear(9, 12)


def encoded(inputs: torch.Tensor) -> torch.Tensor:
    hidden = torch.tanh(encoder(inputs))
    noise = torch.randn_like(hidden)  # <-- backward random
    return hidden * (1 + 0.1 * noise)


optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
inputs = torch.randn(8, 12)
for _ in range(2):
    optimizer.zero_grad()
    F.mse_loss(decoder(encoded(inputs)), inputs).backward()
    optimizer.step()
