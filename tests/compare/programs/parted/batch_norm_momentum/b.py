import torch
from torch import nn

torch.manual_seed(3)


def block(inputs: int, outputs: int, momentum: float = 0.1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride=2, bias=False),
        nn.BatchNorm2d(outputs, momentum=momentum),
        nn.ReLU(),
    )


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = block(3, 6)
        self.second = block(6, 8, momentum=0.01)
        self.head = nn.Linear(8, 4)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        hidden = self.first[2](self.first[1](self.first[0](images)))
        hidden = self.second[0](hidden)
        hidden = self.second[1](hidden)  # <-- forward momentum
        return self.head(self.second[2](hidden).mean((2, 3)))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
generator = torch.Generator().manual_seed(9)
for _ in range(3):
    images = torch.randn(5, 3, 8, 8, generator=generator)
    labels = torch.randint(0, 4, (5,), generator=generator)
    loss = nn.functional.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
