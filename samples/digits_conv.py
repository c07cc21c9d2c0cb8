"""A small convolutional network learns to read handwritten digits (see data/SOURCE.md)."""

import pathlib

import numpy as np

import graphscope as torch
import graphscope.nn as nn
import graphscope.nn.functional as F
from graphscope.utils.data import DataLoader, TensorDataset

EPOCHS = 2

with np.load(pathlib.Path(__file__).parent / "data" / "digits.npz") as file:
    data = dict(file)
order = np.random.default_rng(0).permutation(len(data["labels"]))
images = torch.tensor(data["images"][order][:, None] / 16.0, dtype=torch.float32)
labels = torch.tensor(data["labels"][order].astype("int64"))
train = DataLoader(TensorDataset(images[:1408], labels[:1408]), batch_size=64)
test = DataLoader(TensorDataset(images[1408:], labels[1408:]), batch_size=389)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 16, 3, padding=1)
        self.head = nn.Linear(16 * 2 * 2, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        x = F.max_pool2d(F.relu(self.second(x)), 2)
        return self.head(x.flatten(1))


torch.manual_seed(0)
model = Reader()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)

for epoch in range(EPOCHS):
    model.train()
    for x, y in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    scheduler.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in test)
    print(f"epoch {epoch + 1}: loss {loss.item():.4f}, accuracy {100.0 * right / 389:.1f} %")

# `why first.bias` and `grad first.bias`: a number added to a whole channel is taken away again by the norm behind it.
print("Question: the gradient of first.bias is almost zero from the first step on. Which module makes it so?")
