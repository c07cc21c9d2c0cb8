"""Which of four patterns is on a tile? Pictures kept small in memory."""
import torch
from torch import nn
from torch.utils.data import DataLoader

from tiles.dataset import TileSet


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 24, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(24 * 9, 4)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        return self.fc(x.flatten(1))


def main():
    torch.manual_seed(129)
    loader = DataLoader(TileSet(320), batch_size=32, shuffle=True, drop_last=True)
    net = ConvNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(6):
        loss_sum = 0.0
        for pictures, kind in loader:
            loss = nn.functional.cross_entropy(net(pictures), kind)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss_sum += loss.item()
        print(f"epoch {epoch} loss {loss_sum / len(loader):.4f}")


if __name__ == "__main__":
    main()
