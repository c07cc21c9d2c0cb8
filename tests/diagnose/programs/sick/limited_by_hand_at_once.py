"""The norm is limited by hand, of all gradients at once."""

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
truth = torch.randn(8, 4)
for _ in range(40):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(model(x), (x @ truth).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    norm = torch.stack(torch._foreach_norm(gradients)).norm()
    torch._foreach_mul_(gradients, (1e-4 / (norm + 1e-6)).clamp(max=1.0))  # <-- clipped_away
    optimizer.step()
