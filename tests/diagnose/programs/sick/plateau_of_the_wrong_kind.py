"""The rate is to be cut when the validation loss stands still; the scheduler waits for it to rise."""

import torch
from torch import nn

torch.manual_seed(3)


def validate(model, x, y):
    model.eval()
    with torch.no_grad():
        loss = nn.functional.mse_loss(model(x), y)
    model.train()
    return loss.item()


data = torch.randn(160, 6)
target = data[:, :2].sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(  # <-- lr_vanished
    optimizer, mode="max", factor=0.3, patience=1
)
history = {"val_loss": []}
for epoch in range(10):
    for rows in torch.randperm(128).split(32):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(data[rows]), target[rows]).backward()
        optimizer.step()
    history["val_loss"].append(validate(model, data[128:], target[128:]))
    plateau.step(history["val_loss"][-1])
