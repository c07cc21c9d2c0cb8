import torch
import torch.nn as nn
import torch.nn.functional as F


class LeafNet(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1, stride=2, bias=False)
        self.bn2 = nn.BatchNorm2d(16)
        self.fc = nn.Linear(16, classes)

    def forward(self, x):
        x = self.conv1(x)
        x = F.relu(self.bn1(x))
        x = self.conv2(x)
        x = F.relu(self.bn2(x))
        return self.fc(x.mean(dim=(2, 3)))


def make_data(n, seed):
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 4, (n,), generator=g)
    images = torch.randn(n, 3, 12, 12, generator=g) + labels.view(-1, 1, 1, 1) * 0.3
    return images, labels


def validate(model, images, labels):
    model.eval()
    with torch.no_grad():
        hits = (model(images).argmax(1) == labels).float().mean()
    model.train()
    return hits.item()


def main():
    torch.manual_seed(0)
    model = LeafNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    images, labels = make_data(48, 1)
    held_out = make_data(16, 2)
    for step in range(6):
        at = slice(8 * step, 8 * step + 8)
        loss = F.cross_entropy(model(images[at]), labels[at])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step + 1} loss {loss.item():.4f}")
        if step == 2:
            print("held out", validate(model, *held_out))


if __name__ == "__main__":
    main()
