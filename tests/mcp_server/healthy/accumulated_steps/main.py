"""A regression in small pieces: four backward passes add up to one step, and a last batch is smaller."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
PIECES = 4

inputs = torch.randn(520, 6)
targets = (inputs[:, :1] * inputs[:, 1:2] + inputs[:, 2:3].sin()) + 0.05 * torch.randn(520, 1)
loader = DataLoader(TensorDataset(inputs, targets), batch_size=16, shuffle=True)

model = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
loss_function = nn.MSELoss()

means = []
for epoch in range(14):
    total = 0.0
    optimizer.zero_grad()
    for number, (x, y) in enumerate(loader, 1):
        loss = loss_function(model(x), y)
        (loss / PIECES).backward()
        total += loss.item() * len(x)
        if number % PIECES == 0 or number == len(loader):
            optimizer.step()
            optimizer.zero_grad()
    means.append(total / len(inputs))
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1} loss {means[-1]:.4f}")
print(f"loss from {means[0]:.4f} to {means[-1]:.4f}")
