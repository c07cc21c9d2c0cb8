"""Training a head on the features of a frozen network."""
import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(12)
        self.conv2 = nn.Conv2d(12, 24, 3, stride=2, padding=1)
        self.bn2 = nn.BatchNorm2d(24)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        x = torch.relu(self.bn2(self.conv2(x)))
        return x.flatten(1)


class Probe(nn.Module):
    def __init__(self, backbone, classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(24 * 25, classes)
        for p in self.backbone.parameters():
            p.requires_grad = False

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, x):
        return self.head(self.backbone(x))


def images(n, proto):
    y = torch.randint(0, len(proto), (n,))
    return proto[y] + 0.8 * torch.randn(n, 1, 10, 10), y


def main():
    torch.manual_seed(9)
    proto = torch.randn(4, 1, 10, 10)
    model = Probe(Backbone(), 4)
    opt = torch.optim.SGD((p for p in model.parameters() if p.requires_grad), lr=0.05, momentum=0.9)
    model.train()
    for step in range(60):
        x, y = images(32, proto)
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 15 == 14:
            print(f"step {step + 1} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
