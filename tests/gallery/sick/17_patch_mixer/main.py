"""Classifying textures with a patch mixer."""
import torch
from torch import nn

from nets.mixer import Mixer


class TextureClassifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = Mixer(patches=16, patch_dim=16, dim=24, depth=3)
        self.head = nn.Linear(24, classes)

    def forward(self, img):
        b = img.shape[0]
        patches = img.unfold(1, 4, 4).unfold(2, 4, 4).reshape(b, 16, 16)
        return self.head(self.backbone(patches))


def textures(n, classes=4, side=16):
    y = torch.randint(0, classes, (n,))
    u = torch.arange(side).float()
    phase = torch.rand(n, 1, 1) * 6.28
    freq = (0.5 + 0.45 * y.float())[:, None, None]
    img = torch.sin(freq * (u[None, :, None] + u[None, None, :]) + phase)
    return img + 0.3 * torch.randn(n, side, side), y


def evaluate(model):
    model.eval()
    with torch.no_grad():
        x, y = textures(256)
        acc = (model(x).argmax(-1) == y).float().mean()
    model.train()
    return acc.item()


def main():
    torch.manual_seed(0)
    model = TextureClassifier(4)
    print("parameters:", sum(p.numel() for p in model.parameters()))
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(5):
        running = 0.0
        for _ in range(20):
            x, y = textures(32)
            loss = criterion(model(x), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(f"[{epoch}] loss {running / 20:.4f}  accuracy {evaluate(model):.2f}")


if __name__ == "__main__":
    main()
