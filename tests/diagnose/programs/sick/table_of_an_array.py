import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def load(count):
    generator = np.random.default_rng(0)
    income, age = generator.uniform(10_000, 90_000, count), generator.uniform(18, 90, count)
    table = np.stack([income, age], 1).astype("float32")
    rows = torch.from_numpy(table)  # <-- unnormalised_inputs
    return rows, torch.from_numpy((income > 50_000).astype("int64"))


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 16), nn.Sigmoid(), nn.Linear(16, 2))
sgd = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(5):
    for x, y in DataLoader(TensorDataset(*load(160)), 16, shuffle=True):
        sgd.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        sgd.step()
