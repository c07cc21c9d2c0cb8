"""The usual loop: train, validate, keep the best weights, stop early."""
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(10, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(48, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Dropout(0.2), nn.Linear(48, 3))

    def forward(self, x):
        return self.layers(x)


def train_one(model, loader, opt, criterion):
    model.train()
    total = 0.0
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    return total / len(loader.dataset)


@torch.no_grad()
def validate(model, loader, criterion):
    model.eval()
    total, right = 0.0, 0
    for x, y in loader:
        out = model(x)
        total += criterion(out, y).item() * len(y)
        right += (out.argmax(1) == y).sum().item()
    return total / len(loader.dataset), right / len(loader.dataset)


if __name__ == "__main__":
    torch.manual_seed(23)
    x = torch.randn(800, 10)
    y = torch.stack([x[:, 0] * x[:, 1], x[:, 2] + x[:, 3], x[:, 4]], 1).argmax(1)
    train_set, valid_set = random_split(TensorDataset(x, y), [600, 200])
    train, valid = DataLoader(train_set, 40, shuffle=True), DataLoader(valid_set, 100)
    model, criterion = Model(), nn.CrossEntropyLoss()
    opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=1)
    best, patience = (float("inf"), None), 0
    for epoch in range(7):
        a = train_one(model, train, opt, criterion)
        b, acc = validate(model, valid, criterion)
        plateau.step(b)
        print(f"epoch {epoch} train {a:.4f} valid {b:.4f} accuracy {acc:.3f}")
        if b < best[0]:
            best, patience = (b, copy.deepcopy(model.state_dict())), 0
        else:
            patience += 1
            if patience == 3:
                break
    model.load_state_dict(best[1])
