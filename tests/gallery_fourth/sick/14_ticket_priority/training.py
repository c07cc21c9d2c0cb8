import torch
from torch.nn import functional as F


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def train(model, x, y, epochs=8, batch=25, lr=0.1):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for epoch in range(epochs):
        model.train()
        optimizer.zero_grad()
        total = 0.0
        order = torch.randperm(len(x))
        for part in order.split(batch):
            loss = F.cross_entropy(model(x[part]), y[part])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(part)
        print(f"epoch {epoch + 1}/{epochs} loss {total / len(x):.4f} accuracy {accuracy(model, x, y):.3f}")
