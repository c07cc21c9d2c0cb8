"""Income class from census columns."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from census.table import read_table


class Classifier(nn.Module):
    def __init__(self, columns, hidden=32):
        super().__init__()
        self.hidden1 = nn.Linear(columns, hidden)
        self.hidden2 = nn.Linear(hidden, hidden)
        self.output = nn.Linear(hidden, 1)

    def forward(self, x):
        x = torch.tanh(self.hidden1(x))
        x = torch.tanh(self.hidden2(x))
        return self.output(x).squeeze(-1)


def run_epoch(model, loader, criterion, optimizer=None):
    model.train(optimizer is not None)
    loss_sum, right, count = 0.0, 0, 0
    for x, y in loader:
        with torch.set_grad_enabled(optimizer is not None):
            out = model(x)
            loss = criterion(out, y)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        loss_sum += loss.item() * len(y)
        right += ((out > 0) == (y > 0.5)).sum().item()
        count += len(y)
    return loss_sum / count, right / count


def main():
    torch.manual_seed(50)
    x, y = read_table(900)
    train = DataLoader(TensorDataset(x[:640], y[:640]), batch_size=32, shuffle=True)
    valid = DataLoader(TensorDataset(x[640:], y[640:]), batch_size=130)
    model = Classifier(x.shape[1])
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(5):
        a = run_epoch(model, train, criterion, optimizer)
        b = run_epoch(model, valid, criterion)
        print(f"epoch {epoch}: train {a[0]:.4f} / {a[1]:.2f}   valid {b[0]:.4f} / {b[1]:.2f}")


if __name__ == "__main__":
    main()
