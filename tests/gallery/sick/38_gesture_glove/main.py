"""Gestures from a glove with 12 sensors; the test recordings lie sorted by gesture."""
import argparse

import torch
from torch import nn


class GloveNet(nn.Module):
    def __init__(self, sensors, hidden, gestures):
        super().__init__()
        self.norm_in = nn.BatchNorm1d(sensors)
        self.fc1 = nn.Linear(sensors, hidden)
        self.norm = nn.BatchNorm1d(hidden)
        self.drop = nn.Dropout(0.3)
        self.fc2 = nn.Linear(hidden, gestures)

    def forward(self, x):
        h = torch.relu(self.norm(self.fc1(self.norm_in(x))))
        return self.fc2(self.drop(h))


class Recordings:
    def __init__(self, gestures=5, sensors=12):
        self.mean = torch.randn(gestures, sensors)
        self.gestures = gestures

    def shuffled(self, n):
        y = torch.randint(0, self.gestures, (n,))
        return self.mean[y] + 0.7 * torch.randn(n, self.mean.shape[1]), y

    def by_gesture(self, each):
        for k in range(self.gestures):
            y = torch.full((each,), k)
            yield self.mean[y] + 0.7 * torch.randn(each, self.mean.shape[1]), y


@torch.no_grad()
def evaluate(model, batches):
    right = count = 0
    for x, y in batches:
        logits = model(x)
        right += (logits.argmax(dim=1) == y).sum().item()
        count += len(y)
    return right / count


def train_epoch(model, data, opt, steps, batch):
    model.train()
    loss_sum, right = 0.0, 0
    for _ in range(steps):
        x, y = data.shuffled(batch)
        logits = model(x)
        loss = nn.functional.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        loss_sum += loss.item()
        right += (logits.argmax(1) == y).sum().item()
    return loss_sum / steps, right / (steps * batch)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--steps", type=int, default=20)
    args = ap.parse_args()
    torch.manual_seed(24)
    data = Recordings()
    model = GloveNet(12, 32, data.gestures)
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        loss, acc = train_epoch(model, data, opt, args.steps, 32)
        test = evaluate(model, data.by_gesture(40))
        print(f"epoch {epoch}: loss {loss:.4f} train {acc:.3f} test {test:.3f}")


if __name__ == "__main__":
    main()
