"""A small vision transformer; weight decay only where it belongs."""
import torch
from torch import nn
import torch.nn.functional as F


class TinyViT(nn.Module):
    def __init__(self, classes=4, dim=32, grid=4):
        super().__init__()
        self.embed = nn.Conv2d(1, dim, 4, stride=4)
        self.token = nn.Parameter(0.02 * torch.randn(1, 1, dim))
        self.position = nn.Parameter(0.02 * torch.randn(1, grid * grid + 1, dim))
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], dim=1) + self.position
        return self.head(self.norm(self.encoder(x))[:, 0])


def param_groups(model, decay):
    named = list(model.named_parameters())
    matrices = [p for n, p in named if n.endswith("weight") and p.dim() >= 2]
    biases = [p for n, p in named if n.endswith("bias")]
    return [{"params": matrices, "weight_decay": decay}, {"params": biases, "weight_decay": 0.0}]


def photos(n):
    y = torch.randint(0, 4, (n,))
    x = 0.5 * torch.randn(n, 1, 16, 16)
    row, col = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
    waves = torch.stack([torch.sin(1.57 * row), torch.sin(1.57 * col), torch.sin(1.57 * (row + col)), 0 * row])
    return x + waves[y].unsqueeze(1), y


def train(model, steps=50):
    opt = torch.optim.AdamW(param_groups(model, 0.05), lr=2e-3)
    for step in range(1, steps + 1):
        x, y = photos(32)
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")


torch.manual_seed(112)
train(TinyViT())
