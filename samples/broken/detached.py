"""A gradient that is None: `detach` in the middle of the network."""

import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(4, 2), nn.Linear(2, 4)
x = torch.randn(8, 4)
code = encoder(x).detach()
loss = (decoder(code) - x).pow(2).mean()
loss.backward()
print(encoder.weight.grad)
