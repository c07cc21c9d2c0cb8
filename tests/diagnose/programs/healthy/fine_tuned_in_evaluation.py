"""Fine-tuning with batch norms as they were loaded: the network stays in evaluation on purpose."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 2))
model.load_state_dict({name: value.clone() for name, value in model.state_dict().items()})
model.eval()
x = torch.randn(16, 5)
with torch.no_grad():
    before = (model(x).argmax(1) == (x[:, 0] > 0).long()).float().mean()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(12):
    x = torch.randn(16, 5)
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long()).backward()
    optimizer.step()
