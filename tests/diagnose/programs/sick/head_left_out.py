"""An autoencoder with a classifier: the optimizer gets the parameters of two of three parts."""

import itertools

import torch
from torch import nn

encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
decoder = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
classifier = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))

optimizer = torch.optim.Adam(  # <-- not_in_optimizer
    itertools.chain(encoder.parameters(), decoder.parameters()), lr=1e-3
)
for _ in range(15):
    x = torch.randn(16, 8)
    y = (x[:, 0] > 0).long()
    code = encoder(x)
    loss = nn.functional.mse_loss(decoder(code), x) + nn.functional.cross_entropy(classifier(code), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
