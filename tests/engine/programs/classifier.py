"""Train a small image classifier, the way the tutorials do."""

import argparse, os, random, tempfile, time
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import Dataset, DataLoader, random_split


class Shapes(Dataset):
    """Squares, crosses and bars on a 12x12 canvas."""

    def __init__(self, n=300, transform=None):
        g = torch.Generator().manual_seed(0)
        self.transform = transform
        self.x, self.y = [], []
        for i in range(n):
            img = torch.zeros(1, 12, 12)
            r, c = (i * 7) % 6 + 1, (i * 5) % 6 + 1
            label = i % 3
            if label == 0:
                img[0, r : r + 4, c : c + 4] = 1.0
            elif label == 1:
                img[0, r : r + 5, c + 2] = 1.0
                img[0, r + 2, c : c + 5] = 1.0
            else:
                img[:, r, c : c + 5] = 1.0
            self.x.append(img)
            self.y.append(label)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        img = self.x[i]
        if self.transform:
            img = self.transform(img)
        return img, self.y[i]


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, 1)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, kernel_size=3, padding="same", bias=False)
        self.dropout1 = nn.Dropout2d(0.0)
        self.fc1 = nn.Linear(16 * 5 * 5, 32)
        self.fc2 = nn.Linear(32, 3)
        for m in self.modules():
            if isinstance(m, (nn.Conv2d, nn.Linear)):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
                if m.bias is not None:
                    nn.init.zeros_(m.bias)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)), inplace=True)
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(x, 2)
        x = self.dropout1(x)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


def train(args, model, device, loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        if batch_idx % args.log_interval == 0:
            print(
                "Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.4f}".format(
                    epoch, batch_idx * len(data), len(loader.dataset), 100.0 * batch_idx / len(loader), loss.item()
                )
            )


@torch.no_grad()
def test(model, device, loader):
    model.eval()
    loss, correct = 0, 0
    confusion = torch.zeros(3, 3, dtype=torch.int64)
    for data, target in loader:
        data, target = data.to(device), target.to(device)
        output = model(data)
        loss += F.nll_loss(output, target, reduction="sum").item()
        pred = output.argmax(dim=1, keepdim=True)
        correct += pred.eq(target.view_as(pred)).sum().item()
        for t, p in zip(target.view(-1), pred.view(-1)):
            confusion[t.long(), p.long()] += 1
    loss /= len(loader.dataset)
    print(
        f"\nTest set: Average loss: {loss:.4f}, Accuracy: {correct}/{len(loader.dataset)} ({100.0 * correct / len(loader.dataset):.0f}%)\n"
    )
    print(confusion)
    return correct / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--log-interval", type=int, default=2)
    parser.add_argument("--no-cuda", action="store_true")
    args = parser.parse_args([])
    torch.manual_seed(1)
    random.seed(1)
    use_cuda = not args.no_cuda and torch.cuda.is_available()
    device = torch.device("cuda" if use_cuda else "cpu")
    data = Shapes(transform=lambda t: (t - 0.15) / 0.35)
    train_set, test_set = random_split(data, [240, 60], generator=torch.Generator().manual_seed(42))
    train_loader = DataLoader(
        train_set, batch_size=48, shuffle=True, num_workers=0, drop_last=True, pin_memory=use_cuda
    )
    test_loader = DataLoader(test_set, batch_size=30)
    model = Net().to(device)
    print(model)
    print(sum(p.numel() for p in model.parameters() if p.requires_grad), "parameters")
    optimizer = optim.SGD(
        [
            {"params": model.conv1.parameters()},
            {"params": [p for n, p in model.named_parameters() if not n.startswith("conv1")], "weight_decay": 1e-4},
        ],
        lr=args.lr,
        momentum=0.9,
    )
    scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
    best = 0
    path = os.path.join(tempfile.mkdtemp(), "model.pt")
    for epoch in range(1, args.epochs + 1):
        train(args, model, device, train_loader, optimizer, epoch)
        acc = test(model, device, test_loader)
        scheduler.step()
        print("lr", scheduler.get_last_lr())
        if acc >= best:
            best = acc
            torch.save({"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    checkpoint = torch.load(path, map_location=device, weights_only=True)
    model2 = Net()
    print(model2.load_state_dict(checkpoint["model"]))
    optimizer.load_state_dict(checkpoint["optimizer"])
    assert test(model2, device, test_loader) == best
    for name, p in model.state_dict().items():
        print(name, tuple(p.shape), p.dtype)
    print(torch.stack([p.grad.norm() for p in model.parameters() if p.grad is not None]).shape)


if __name__ == "__main__":
    main()
