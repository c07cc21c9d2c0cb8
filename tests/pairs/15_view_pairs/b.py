import torch
import torch.nn as nn
import torch.nn.functional as F


class Siamese(nn.Module):
    """Two views, one encoder, a predictor on top."""

    def __init__(self, dim=16, proj=24, hidden=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(dim, proj), nn.BatchNorm1d(proj), nn.ReLU(), nn.Linear(proj, proj))
        self.predictor = nn.Sequential(nn.Linear(proj, hidden), nn.ReLU(), nn.Linear(hidden, proj))

    def forward(self, x1, x2):
        z1, z2 = self.encoder(x1), self.encoder(x2)
        p1, p2 = self.predictor(z1), self.predictor(z2)
        return p1, p2, z1, z2.detach()


def symmetric_loss(p1, p2, z1, z2):
    first = F.cosine_similarity(p1, z2, dim=-1).mean()
    second = F.cosine_similarity(p2, z1, dim=-1).mean()
    return -(first + second) * 0.5


if __name__ == "__main__":
    torch.manual_seed(1)
    model = Siamese()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(3):
        clean = torch.randn(20, 16)
        x1 = clean + 0.2 * torch.randn(20, 16)
        x2 = clean + 0.2 * torch.randn(20, 16)
        loss = symmetric_loss(*model(x1, x2))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())
