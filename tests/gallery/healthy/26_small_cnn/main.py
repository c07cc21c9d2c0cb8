import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.dropout = nn.Dropout(0.25)
        self.fc1 = nn.Linear(16 * 16, 32)
        self.fc2 = nn.Linear(32, 5)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = self.dropout(torch.flatten(x, 1))
        return F.log_softmax(self.fc2(F.relu(self.fc1(x))), dim=1)


def data(n, seed):
    g = torch.Generator().manual_seed(seed)
    proto = torch.randn(5, 3, 12, 12, generator=torch.Generator().manual_seed(0))
    y = torch.randint(0, 5, (n,), generator=g)
    return TensorDataset(0.5 * proto[y] + torch.randn(n, 3, 12, 12, generator=g), y)


def train(model, loader, optimizer, epoch):
    model.train()
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = F.nll_loss(model(x), y)
        loss.backward()
        optimizer.step()
    print(f"Train epoch {epoch} loss {loss.item():.4f}")


def test(model, loader):
    model.eval()
    loss, correct = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            loss += F.nll_loss(out, y, reduction="sum").item()
            correct += out.argmax(1).eq(y).sum().item()
    n = len(loader.dataset)
    print(f"Test loss {loss / n:.4f} accuracy {correct}/{n}")


def main():
    torch.manual_seed(26)
    model = Net()
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
    train_loader = DataLoader(data(480, 1), batch_size=32, shuffle=True)
    test_loader = DataLoader(data(200, 2), batch_size=100)
    for epoch in range(1, 5):
        train(model, train_loader, optimizer, epoch)
        test(model, test_loader)
        scheduler.step()


if __name__ == "__main__":
    main()
