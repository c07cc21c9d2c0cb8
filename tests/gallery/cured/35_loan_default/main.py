"""Will a loan be repaid?"""
import torch
from torch import nn

from loans.data import load


class Residual(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x):
        return x + self.fc2(torch.relu(self.fc1(x)))


class LoanNet(nn.Module):
    def __init__(self, columns, dim=24):
        super().__init__()
        self.stem = nn.Linear(columns, dim)
        self.body = nn.Sequential(Residual(dim), Residual(dim))
        self.head = nn.Linear(dim, 2)

    def forward(self, x):
        return self.head(self.body(self.stem(x)))


def evaluate(net, x, y):
    net.eval()
    with torch.no_grad():
        out = net(x)
    net.train()
    return nn.functional.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(30)
    (x, y), (vx, vy) = load(768), load(256)
    net = LoanNet(x.shape[1])
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    for epoch in range(5):
        for part in torch.randperm(len(x)).split(48):
            loss = nn.functional.cross_entropy(net(x[part]), y[part])
            opt.zero_grad()
            loss.backward()
            opt.step()
        vloss, acc = evaluate(net, vx, vy)
        print(f"epoch {epoch}: loss {loss.item():.4f} valid {vloss:.4f} accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
