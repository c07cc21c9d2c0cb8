import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from callbacks import Annealer, Printer
from trainer import Trainer


def leaves(n, size=14):
    kind = torch.randint(3, (n,))
    image = 0.3 * torch.randn(n, 2, size, size)
    image[:, 0] += 0.6
    for i, k in enumerate(kind.tolist()):
        for _ in range(4 * k):
            r, c = torch.randint(size - 2, (2,)).tolist()
            image[i, 1, r : r + 2, c : c + 2] += 2.0
    return image, kind


class LeafNet(nn.Sequential):
    def __init__(self, width=12):
        super().__init__(
            nn.Conv2d(2, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, stride=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(width, 3),
        )


torch.manual_seed(13)
loader = DataLoader(TensorDataset(*leaves(300)), batch_size=30, shuffle=True)
net = LeafNet()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
Trainer(net, optimizer, nn.CrossEntropyLoss(), [Annealer(optimizer), Printer()]).fit(loader, epochs=7)
