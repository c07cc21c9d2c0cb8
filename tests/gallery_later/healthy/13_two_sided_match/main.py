"""Captions and pictures matched in both directions: softmax over the rows and over the columns."""
import torch
from torch import nn

from match.loss import symmetric


class Towers(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.picture = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 9, dim))
        self.caption = nn.EmbeddingBag(30, dim, mode="mean")
        self.log_scale = nn.Parameter(torch.tensor(1.6))

    def forward(self, pictures, captions):
        a = nn.functional.normalize(self.picture(pictures), dim=1)
        b = nn.functional.normalize(self.caption(captions), dim=1)
        return self.log_scale.exp() * a @ b.t()


def pairs(n, look):
    captions = torch.randint(0, 30, (n, 3))
    pictures = look[captions].mean(1) * 3 ** 0.5 + 0.1 * torch.randn(n, 1, 8, 8)
    return pictures, captions


def main():
    torch.manual_seed(213)
    look = torch.randn(30, 1, 8, 8)
    model = Towers()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(80):
        logits = model(*pairs(48, look))
        loss = symmetric(logits)
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            model.log_scale.clamp_(max=4.6)
        if step % 16 == 15:
            hit = (logits.argmax(1) == torch.arange(48)).float().mean()
            print(f"{step + 1:2d} loss {loss.item():.4f} hits {hit.item():.2f}")


main()
