"""Two optimizers of one loss: the gradients of one are cleared twice, those of the other never."""

import torch
from torch import nn

encoder = nn.Sequential(nn.Linear(6, 12), nn.Tanh())
decoder = nn.Sequential(nn.Linear(12, 6))
encoder_optimizer = torch.optim.SGD(encoder.parameters(), lr=0.01)
decoder_optimizer = torch.optim.SGD(decoder.parameters(), lr=0.01)
for _ in range(20):
    x = torch.randn(16, 6)
    encoder_optimizer.zero_grad()
    encoder_optimizer.zero_grad()
    loss = nn.functional.mse_loss(decoder(encoder(x)), x)
    loss.backward()  # <-- zero_grad
    encoder_optimizer.step()
    decoder_optimizer.step()
