"""1-D convolutions on synthetic heart beats."""
import argparse

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


def beats(n, length=48):
    t = torch.linspace(0, 1, length)
    label = torch.randint(0, 3, (n,))
    centre = 0.3 + 0.15 * label.float() + 0.05 * torch.randn(n)
    width = 0.03 + 0.02 * (label == 1).float()
    wave = torch.exp(-((t[None] - centre[:, None]) ** 2) / (2 * width[:, None] ** 2))
    wave = wave * (0.7 + 0.6 * torch.rand(n, 1)) + 0.4 * torch.randn(n, length)
    return wave.unsqueeze(1), label


class EcgNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 8, 5, padding=2), nn.BatchNorm1d(8), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(8, 16, 5, padding=2), nn.BatchNorm1d(16), nn.ReLU(), nn.MaxPool1d(2),
        )
        self.classify = nn.Linear(16 * 12, 3)

    def forward(self, x):
        return self.classify(self.features(x).flatten(1))


def train_epoch(net, loader, opt, scheduler, criterion):
    net.train()
    total = 0.0
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        opt.step()
        total += loss.item()
    scheduler.step()
    return total / len(loader)


@torch.no_grad()
def test(net, x, y):
    net.eval()
    return (net(x).argmax(1) == y).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--gamma", type=float, default=0.5)
    args = parser.parse_args()

    torch.manual_seed(3)
    loader = DataLoader(TensorDataset(*beats(640)), batch_size=32, shuffle=True)
    x_test, y_test = beats(300)
    net = EcgNet()
    opt = optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
    scheduler = optim.lr_scheduler.ExponentialLR(opt, gamma=args.gamma)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        loss = train_epoch(net, loader, opt, scheduler, criterion)
        print(f"epoch {epoch}  loss {loss:.4f}  test accuracy {test(net, x_test, y_test):.3f}")


if __name__ == "__main__":
    main()
