import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(8)


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(width, 2 * width)
        self.second = nn.Linear(2 * width, width)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        hidden = F.relu(self.first(inputs))
        hidden = F.dropout(hidden, 0.4, self.training)  # <-- backward random
        return inputs + self.second(hidden)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(8) for _ in range(2))
        self.head = nn.Linear(8, 3)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            inputs = checkpoint(block, inputs, use_reentrant=False, preserve_rng_state=False)
        return self.head(inputs)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
inputs, labels = torch.randn(6, 8), torch.randint(0, 3, (6,))
for _ in range(2):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(inputs), labels)
    loss.backward()
    optimizer.step()
