import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)
up, down = nn.Linear(6, 12), nn.Linear(12, 2)
scale, shift = nn.Parameter(torch.ones(12)), nn.Parameter(torch.zeros(12))
mean, variance = torch.zeros(12), torch.ones(12)
parameters = [*up.parameters(), scale, shift, *down.parameters()]
points, target = torch.randn(9, 6), torch.randn(9, 2)


def forward(training: bool) -> torch.Tensor:
    hidden = points @ up.weight.T + up.bias
    hidden = F.batch_norm(hidden, mean, variance, scale, shift, training, 0.8)  # <-- forward momentum
    return torch.relu(hidden) @ down.weight.T + down.bias


optimizer = torch.optim.Adam(parameters, lr=0.01)
for _ in range(2):
    loss = (forward(True) - target).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    print(forward(False).sum())
