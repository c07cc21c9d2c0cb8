from dataclasses import dataclass, field


@dataclass
class AverageMeter:
    total: float = 0.0
    count: int = 0
    history: list = field(default_factory=list)

    def update(self, value, n=1):
        self.total = self.total + value * n
        self.count += n

    @property
    def average(self):
        return self.total / max(self.count, 1)


def fit(model, loader, criterion, optimizer, epochs):
    meter = AverageMeter()
    for epoch in range(epochs):
        hits = 0
        for x, y in loader:
            scores = model(x)
            loss = criterion(scores, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            meter.update(loss.item(), len(y))
            hits += (scores.argmax(1) == y).sum().item()
        print(f"epoch {epoch}: mean loss so far {meter.average:.4f}, right {hits / len(loader.dataset):.3f}")
    return meter
