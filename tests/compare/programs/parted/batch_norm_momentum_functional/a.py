import torch
from torch import nn

torch.manual_seed(4)
layers = nn.ModuleDict({"up": nn.Linear(6, 12), "norm": nn.BatchNorm1d(12, momentum=0.2), "down": nn.Linear(12, 2)})
optimizer = torch.optim.Adam(layers.parameters(), lr=0.01)
points, target = torch.randn(9, 6), torch.randn(9, 2)
for _ in range(2):
    hidden = layers["up"](points)
    hidden = layers["norm"](hidden)  # <-- forward momentum
    loss = nn.functional.mse_loss(layers["down"](hidden.relu()), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
layers.eval()
with torch.no_grad():
    print(layers["down"](layers["norm"](layers["up"](points)).relu()).sum())
