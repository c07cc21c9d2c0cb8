"""Training in bfloat16 with float32 master weights."""
import torch
from torch import nn


class Master:
    """Keeps float32 copies, steps them and casts back."""

    def __init__(self, model, lr):
        self.low = list(model.parameters())
        self.high = [p.detach().clone().float().requires_grad_(True) for p in self.low]
        self.opt = torch.optim.AdamW(self.high, lr=lr)

    def step(self):
        for h, p in zip(self.high, self.low):
            h.grad = None if p.grad is None else p.grad.float()
        self.opt.step()
        with torch.no_grad():
            for h, p in zip(self.high, self.low):
                p.copy_(h)
                p.grad = None


class Net(nn.Module):
    def __init__(self, dim=40):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(12, dim), nn.Linear(dim, dim), nn.Linear(dim, 3)

    def forward(self, x):
        x = nn.functional.gelu(self.a(x))
        return self.c(x + nn.functional.gelu(self.b(x)))


if __name__ == "__main__":
    torch.manual_seed(33)
    w = torch.randn(12, 3)
    net = Net().to(torch.bfloat16)
    master = Master(net, lr=3e-3)
    for step in range(90):
        x = torch.randn(64, 12)
        y = (x @ w).argmax(1)
        loss = nn.functional.cross_entropy(net(x.bfloat16()).float(), y)
        loss.backward()
        master.step()
        if step % 30 == 29:
            print(f"step {step + 1} loss {loss.item():.4f}")
