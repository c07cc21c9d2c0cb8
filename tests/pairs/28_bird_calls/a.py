import torch
import torch.nn as nn


class Calls(nn.Module):
    def __init__(self, species=8):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 8, 5, stride=2, padding=2),
            nn.BatchNorm1d(8),
            nn.ReLU(),
            nn.Conv1d(8, 16, 5, stride=2, padding=2),
            nn.BatchNorm1d(16),
            nn.ReLU(),
            nn.AdaptiveAvgPool1d(1),
            nn.Flatten(),
        )
        self.classifier = nn.Linear(16, species)
        nn.init.normal_(self.classifier.weight, std=1.0)

    def forward(self, wave):
        return self.classifier(self.features(wave))


def calls(step, n=10):
    g = torch.Generator().manual_seed(70 + step)
    species = torch.randint(0, 8, (n,), generator=g)
    t = torch.arange(64) / 64
    wave = torch.sin(6.2832 * (species[:, None] + 2) * t) + 0.2 * torch.randn(n, 64, generator=g)
    return wave[:, None], species


if __name__ == "__main__":
    torch.manual_seed(71)
    model = Calls()
    criterion = nn.CrossEntropyLoss(label_smoothing=0.2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(2):
        wave, species = calls(step)
        loss = criterion(model(wave), species)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())
