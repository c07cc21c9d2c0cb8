import torch
from torch import nn

from backbone import Backbone
from finetune import prepare


def needles(n, gen, widths, angles, size=12):
    """Needles of some widths that lie at some angles; the kind is the one that varies."""
    kind = torch.randint(max(len(widths), len(angles)), (n,), generator=gen)
    a = torch.tensor(angles)[kind % len(angles)].view(-1, 1, 1)
    w = torch.tensor(widths)[kind % len(widths)].view(-1, 1, 1)
    y, x = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
    off = 0.15 * torch.randn(n, 1, 1, generator=gen)
    line = torch.exp(-(((x * a.cos() + y * a.sin()) - off) ** 2) * w)
    return (line + 0.2 * torch.randn(n, size, size, generator=gen)).unsqueeze(1) - 0.2, kind


def train(model, x, y, steps, lr):
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lr)
    criterion = nn.CrossEntropyLoss()
    for step in range(steps):
        part = torch.randperm(len(x))[:32]
        out = model(x[part])
        loss = criterion(out, y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            print(f"  {step + 1}: loss {loss.item():.4f} accuracy {(out.argmax(1) == y[part]).float().mean():.2f}")


torch.manual_seed(3)
gen = torch.Generator().manual_seed(3)
net = Backbone(2)
print("pretraining on diatoms")
train(net, *needles(240, gen, [8.0, 50.0], [0.8]), steps=30, lr=4e-3)
print("fine tuning on plankton")
train(prepare(net, 4), *needles(240, gen, [30.0], [0.0, 0.8, 1.57, 2.36]), steps=80, lr=6e-3)
