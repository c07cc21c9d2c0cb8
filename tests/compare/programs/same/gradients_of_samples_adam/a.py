import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad_and_value, vmap

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


def loss_of(weights: dict, point: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return F.mse_loss(functional_call(net, weights, (point,)), value)


for _ in range(2):
    weights = {name: each.detach() for name, each in net.named_parameters()}
    gradients, losses = vmap(grad_and_value(loss_of), in_dims=(None, 0, 0))(weights, points, target)
    for name, each in net.named_parameters():
        each.grad = gradients[name].clamp(-0.5, 0.5).mean(0)
    optimizer.step()
    print(losses.mean().item())
