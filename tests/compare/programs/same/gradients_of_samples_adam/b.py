import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(31)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(5, 8)
        self.norm = nn.LayerNorm(8)
        self.last = nn.Linear(8, 1)

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        return self.last(F.gelu(self.norm(self.first(points))))


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
points, target = torch.randn(4, 5), torch.randn(4, 1)

for _ in range(2):
    kept = {each: [] for each in net.parameters()}
    total = 0.0
    for point, value in zip(points, target):
        net.zero_grad()
        loss = F.mse_loss(net(point), value)
        loss.backward()
        total += loss.item()
        for each, gradients in kept.items():
            gradients.append(each.grad.clone().clamp(-0.5, 0.5))
    for each, gradients in kept.items():
        each.grad = torch.stack(gradients).mean(0)
    optimizer.step()
    print(total / len(points))
