"""Is a string of brackets balanced? A small transformer with the schedule of the paper."""
import torch
from torch import nn
import torch.nn.functional as F

from brackets import batch


class Reader(nn.Module):
    def __init__(self, dim=32, length=12):
        super().__init__()
        self.token = nn.Embedding(2, dim)
        self.place = nn.Parameter(torch.randn(length, dim) * 0.1)
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(dim, 1)

    def forward(self, ids):
        x = self.encoder(self.token(ids) + self.place)
        return self.out(x.mean(1)).squeeze(1)


def noam(dim, warmup):
    def factor(step):
        step = max(step, 1)
        return dim ** -0.5 * min(step ** -0.5, step * warmup ** -1.5)
    return factor


torch.manual_seed(118)
reader = Reader()
optimizer = torch.optim.Adam(reader.parameters(), lr=2e-4, betas=(0.9, 0.98))
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, noam(32, warmup=1000))
for step in range(1, 81):
    ids, balanced = batch(64)
    loss = F.binary_cross_entropy_with_logits(reader(ids), balanced)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 16 == 0:
        print(f"step {step} loss {loss.item():.4f}")
