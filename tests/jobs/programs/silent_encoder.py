"""An autoencoder whose encoder never learns: its gradients are None."""

import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
        self.decoder = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 16))

    def forward(self, x):
        code = self.encoder(x)
        code = torch.tensor(code.tolist())  # rounded to what is sent over the wire
        return self.decoder(code)


torch.manual_seed(0)
model = Autoencoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
data = torch.randn(64, 16)

for epoch in range(4):
    loss = nn.functional.mse_loss(model(data), data)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print("gradient of the encoder:", model.encoder[0].weight.grad)
