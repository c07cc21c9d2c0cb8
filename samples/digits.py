"""Training on real data: a network of two layers learns to read handwritten digits (see data/SOURCE.md)."""

import pathlib

import numpy as np

import graphscope as torch
import graphscope.nn.functional as F

EPOCHS = 4
BATCH = 64

with np.load(pathlib.Path(__file__).parent / "data" / "digits.npz") as file:
    data = dict(file)
order = np.random.default_rng(0).permutation(len(data["labels"]))
images = torch.tensor(data["images"][order].reshape(-1, 64) / 16.0, dtype=torch.float32)
labels = torch.tensor(data["labels"][order].astype("int64"))
train, test = slice(0, 1408), slice(1408, 1797)

torch.manual_seed(0)
W1 = (torch.randn(64, 64) * 0.18).requires_grad_()
b1 = torch.zeros(64, requires_grad=True)
W2 = (torch.randn(64, 10) * 0.18).requires_grad_()
b2 = torch.zeros(10, requires_grad=True)
optimizer = torch.optim.SGD([W1, b1, W2, b2], lr=0.2, momentum=0.9)


def network(x):
    hidden = F.relu(torch.mm(x, W1) + b1)
    return torch.mm(hidden, W2) + b2


for epoch in range(EPOCHS):
    for start in range(train.start, train.stop, BATCH):
        batch = slice(start, start + BATCH)
        optimizer.zero_grad()
        loss = F.cross_entropy(network(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = network(images[test]).argmax(1) == labels[test]
    print(f"epoch {epoch + 1}: loss {loss.item():.4f}, accuracy {100.0 * right.sum().item() / len(labels[test]):.1f} %")

# The gradient of W1 has a row for each pixel; `b name:W1 backward` and `p grad[0]` show the first.
print("Question: training never changes the rows 0, 32 and 39 of W1. What do all images have in common there?")
