"""Fine-tuning a small pretrained convolutional net to new classes."""
import torch
from torch import nn

from transfer.backbone import SmallConv, pretrain
from transfer.finetune import prepare


def flowers(n, classes=5, side=12):
    g = torch.Generator().manual_seed(31)
    proto = torch.randn(classes, 1, side, side, generator=g)
    y = torch.randint(0, classes, (n,))
    return proto[y] + 0.8 * torch.randn(n, 1, side, side), y


@torch.no_grad()
def score(net, x, y):
    net.eval()
    acc = (net(x).argmax(1) == y).float().mean().item()
    net.train()
    return acc


def main():
    torch.manual_seed(12)
    net = SmallConv(classes=3)
    pretrain(net, steps=15)
    net = prepare(net, classes=5)
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-2)
    loss_fn = nn.CrossEntropyLoss()
    test_x, test_y = flowers(200)
    for epoch in range(4):
        total = 0.0
        for _ in range(15):
            x, y = flowers(32)
            optimizer.zero_grad()
            loss = loss_fn(net(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / 15:.4f} accuracy {score(net, test_x, test_y):.2f}")


if __name__ == "__main__":
    main()
