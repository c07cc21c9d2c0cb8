"""The iterator is made in the loop that takes a batch of it."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(256, 5)
loader = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=32)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for _ in range(30):
    batches = iter(loader)  # <-- constant_data
    inputs, labels = next(batches)
    loss = nn.functional.cross_entropy(model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
