"""Small ViT-like classifier, hyper-parameters from a settings module."""
import torch
from torch import nn

from conf.settings import Settings


class Tiny(nn.Module):
    def __init__(self, dim=32, classes=4):
        super().__init__()
        self.patch = nn.Conv2d(1, dim, 4, stride=4)
        self.pos = nn.Parameter(0.02 * torch.randn(1, 16, dim))
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.pos
        return self.head(self.encoder(x).mean(1))


def quadrants(n):
    """A bright patch lies in one of four quadrants."""
    y = torch.randint(0, 4, (n,))
    x = 0.3 * torch.randn(n, 1, 16, 16)
    for i, q in enumerate(y.tolist()):
        r = 8 * (q // 2) + int(torch.randint(0, 5, ()))
        c = 8 * (q % 2) + int(torch.randint(0, 5, ()))
        x[i, 0, r:r + 4, c:c + 4] += 2.5
    return x, y


def main():
    cfg = Settings.load({"batch_size": 32, "epochs": 4})
    torch.manual_seed(cfg.seed)
    model = Tiny()
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
    print(f"training with {cfg}")
    for epoch in range(cfg.epochs):
        total = 0.0
        for _ in range(cfg.steps_per_epoch):
            x, y = quadrants(cfg.batch_size)
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / cfg.steps_per_epoch:.4f}")


if __name__ == "__main__":
    main()
