"""A classifier that gets new classes during its life."""
import torch
from torch import nn


class Grower(nn.Module):
    def __init__(self, dim, hidden, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, classes)

    def grow(self, classes):
        old = self.head
        self.head = nn.Linear(old.in_features, classes)
        with torch.no_grad():
            self.head.weight[: old.out_features] = old.weight
            self.head.bias[: old.out_features] = old.bias

    def forward(self, x):
        return self.head(self.body(x))


class Blobs:
    def __init__(self, dim=10, most=8):
        self.centres = 1.2 * torch.randn(most, dim)

    def draw(self, n, classes):
        y = torch.randint(0, classes, (n,))
        return self.centres[y] + torch.randn(n, self.centres.shape[1]), y


class Learner:
    def __init__(self, classes=3):
        self.classes = classes
        self.net = Grower(10, 32, classes)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)
        self.loss = nn.CrossEntropyLoss()

    def more_classes(self, classes):
        self.classes = classes
        self.net.grow(classes)

    def fit(self, blobs, steps):
        for step in range(steps):
            x, y = blobs.draw(32, self.classes)
            loss = self.loss(self.net(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            if step % 10 == 0 or step == steps - 1:
                print(f"  {self.classes} classes, step {step:2d}, loss {loss.item():.4f}")


def main():
    torch.manual_seed(14)
    blobs, learner = Blobs(), Learner()
    learner.fit(blobs, 40)
    learner.more_classes(8)
    learner.fit(blobs, 60)


if __name__ == "__main__":
    main()
