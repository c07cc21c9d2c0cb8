"""Bars that lie, stand or cross: a small convolutional classifier with batch norm, as a tutorial would have it."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(3)


def pictures(count):
    images = 0.3 * torch.randn(count, 1, 16, 16)
    labels = torch.randint(0, 3, (count,))
    for image, label in zip(images, labels, strict=True):
        row, column = torch.randint(3, 13, (2,)).tolist()
        if label != 1:
            image[0, row, 2:14] += 1.5
        if label != 0:
            image[0, 2:14, column] += 1.5
    return TensorDataset(images, labels)


def block(inside, outside):
    return nn.Sequential(
        nn.Conv2d(inside, outside, 3, padding=1, bias=False), nn.BatchNorm2d(outside), nn.ReLU(), nn.MaxPool2d(2)
    )


model = nn.Sequential(block(1, 8), block(8, 16), block(16, 16), nn.Flatten(), nn.Dropout(0.1), nn.Linear(64, 3))
train_set, test_set = random_split(pictures(512), [448, 64])
train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
test_loader = DataLoader(test_set, batch_size=64)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5)

losses = []
for epoch in range(8):
    model.train()
    for images, labels in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    scheduler.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(images).argmax(1) == labels).sum().item() for images, labels in test_loader)
    print(f"epoch {epoch} loss {losses[-1]:.4f} accuracy {right / len(test_set):.2f}")
print(f"loss from {losses[0]:.4f} to {losses[-1]:.4f}")
