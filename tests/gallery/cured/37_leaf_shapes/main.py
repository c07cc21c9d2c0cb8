"""Convolutional classifier with batch norm and dropout, tested after every epoch."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ConvBN(nn.Sequential):
    def __init__(self, inp, out):
        super().__init__(nn.Conv2d(inp, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(), nn.MaxPool2d(2))


class LeafNet(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.features = nn.Sequential(ConvBN(1, 8), ConvBN(8, 16))
        self.drop = nn.Dropout(0.4)
        self.fc = nn.Linear(16 * 9, classes)

    def forward(self, x):
        return self.fc(self.drop(self.features(x).flatten(1)))


def leaves(n, seed):
    shapes = torch.randn(4, 1, 12, 12, generator=torch.Generator().manual_seed(4))
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 4, (n,), generator=g)
    return TensorDataset(3.0 + 0.6 * shapes[y] + 1.2 * torch.randn(n, 1, 12, 12, generator=g), y)


def evaluate(model, loader):
    model.eval()
    hits = total = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
            total += len(y)
    return hits / total


def main():
    torch.manual_seed(1)
    train = DataLoader(leaves(480, 1), batch_size=16, shuffle=True)
    test = DataLoader(leaves(200, 2), batch_size=50)
    model = LeafNet()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(4):
        model.train()
        total = 0.0
        for x, y in train:
            loss = criterion(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(train):.4f} test {evaluate(model, test):.3f}")


if __name__ == "__main__":
    main()
