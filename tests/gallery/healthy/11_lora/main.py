"""Low-rank adaptation: the second factor starts at zero, the base is frozen."""
import torch
from torch import nn


class LoRA(nn.Module):
    def __init__(self, layer, rank):
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.down = nn.Linear(layer.in_features, rank, bias=False)
        self.up = nn.Linear(rank, layer.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.layer(x) + self.up(self.down(x))


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(10, 40), nn.Linear(40, 40), nn.Linear(40, 3)

    def forward(self, x):
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


def task(n, w):
    x = torch.randn(n, 10)
    return x, (x @ w).argmax(1)


def fit(model, params, w, steps, lr):
    opt = torch.optim.AdamW(params, lr=lr)
    for step in range(steps):
        x, y = task(64, w)
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            print(f"  step {step} loss {loss.item():.4f}")


torch.manual_seed(8)
old, new = torch.randn(10, 3), torch.randn(10, 3)
model = Base()
print("base")
fit(model, model.parameters(), old, 50, 1e-2)
for name in ("fc1", "fc2", "fc3"):
    setattr(model, name, LoRA(getattr(model, name), rank=4))
print("adapters")
fit(model, [p for p in model.parameters() if p.requires_grad], new, 60, 1e-2)
