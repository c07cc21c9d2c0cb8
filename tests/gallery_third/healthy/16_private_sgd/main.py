import torch
from torch import nn

from private import PrivateSGD


def patients(n, w):
    x = torch.randn(n, 10)
    return x, (x @ w + 0.3 * torch.randn(n) > 0).long()


def main():
    torch.manual_seed(16)
    w = torch.randn(10)
    model = nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.Linear(24, 2))
    criterion = nn.CrossEntropyLoss()
    private = PrivateSGD(model, criterion, lr=0.8, generator=torch.Generator().manual_seed(1))
    test = patients(400, w)
    for step in range(1, 71):
        clipped = private.step(*patients(64, w))
        if step % 10 == 0:
            with torch.no_grad():
                out = model(test[0])
            print(f"{step}: test loss {criterion(out, test[1]).item():.4f} "
                  f"accuracy {(out.argmax(1) == test[1]).float().mean():.3f} clipped {clipped:.2f}")


main()
