"""Whether the model can fit one batch is tried at two rates; each step reshapes the batch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(256, 2, 3)
loader = DataLoader(TensorDataset(x, (x[:, 0, 0] > 0).long()), batch_size=32)
for rate in (1e-2, 3e-2):
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), rate)
    inputs, labels = next(iter(loader))
    for _ in range(15):
        loss = nn.functional.cross_entropy(model(inputs.reshape(32, 6) * 1.0), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
