"""Learning without negatives: predictor on one side, stopped gradient on the other."""
import torch
from torch import nn
import torch.nn.functional as F


class Branch(nn.Module):
    def __init__(self, dim=20, out=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(dim, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, out), nn.BatchNorm1d(out))
        self.predictor = nn.Sequential(nn.Linear(out, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, out))

    def forward(self, x):
        z = self.encoder(x)
        return self.predictor(z), z.detach()


def distance(p, z):
    return -F.cosine_similarity(p, z, dim=1).mean()


torch.manual_seed(34)
basis = torch.randn(4, 20)
model = Branch()
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=80)
for step in range(80):
    x = torch.randn(64, 4) @ basis
    a, b = (x + 0.3 * torch.randn_like(x) for _ in range(2))
    (p1, z1), (p2, z2) = model(a), model(b)
    loss = 0.5 * distance(p1, z2) + 0.5 * distance(p2, z1)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 20 == 19:
        print(f"step {step + 1} loss {loss.item():.4f} spread {F.normalize(z1, dim=1).std(0).mean():.3f}")
