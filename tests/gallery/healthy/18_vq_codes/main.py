"""Vector quantisation with a straight-through estimator and a moving-average codebook."""
import torch
from torch import nn
import torch.nn.functional as F


class Quantizer(nn.Module):
    def __init__(self, codes, dim, decay=0.9):
        super().__init__()
        self.decay = decay
        self.register_buffer("codes", torch.randn(codes, dim) * 0.3)
        self.register_buffer("count", torch.ones(codes))
        self.register_buffer("total", self.codes.clone())

    def forward(self, z):
        index = torch.cdist(z.detach(), self.codes).argmin(1)
        hot = F.one_hot(index, len(self.codes)).float()
        q = self.codes[index]
        if self.training:
            with torch.no_grad():
                self.count.mul_(self.decay).add_(hot.sum(0), alpha=1 - self.decay)
                self.total.mul_(self.decay).add_(hot.t() @ z, alpha=1 - self.decay)
                self.codes.copy_(self.total / (self.count.unsqueeze(1) + 1e-5))
        commit = F.mse_loss(z, q)
        return z + (q - z).detach(), commit


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 4))
        self.vq = Quantizer(16, 4)
        self.dec = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 20))

    def forward(self, x):
        q, commit = self.vq(self.enc(x))
        return self.dec(q), commit


if __name__ == "__main__":
    torch.manual_seed(17)
    kinds = torch.randn(8, 20)
    model = Model()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(120):
        x = kinds[torch.randint(0, 8, (64,))] + 0.1 * torch.randn(64, 20)
        out, commit = model(x)
        loss = F.mse_loss(out, x) + 0.25 * commit
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 30 == 29:
            print(f"{step + 1} {loss.item():.4f}")
