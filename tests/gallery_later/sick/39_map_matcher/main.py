"""Which map does a walk belong to? Two encoders, matched within the batch."""
import torch
import torch.nn.functional as F

from matching.encoders import Matcher


def walks_on_maps(n, size=8):
    maps = torch.randn(n, 1, size, size)
    at = torch.rand(n, size * size).argsort(1)[:, :40]
    seen = maps.flatten(1).gather(1, at)
    return maps, torch.stack([seen, at / 32 - 1.0], dim=-1)


def training_step(model, optimizer):
    maps, walks = walks_on_maps(32)
    logits = model.scale.exp() * model.encode_walks(walks) @ model.encode_maps(maps).t()
    loss = F.cross_entropy(logits, torch.arange(len(logits)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def search(model, n=100):
    with torch.no_grad():
        maps, walks = walks_on_maps(n)
        index = model.encode_maps(maps)
        found = (model.encode_walks(walks) @ index.t()).argmax(1)
    return (found == torch.arange(n)).float().mean().item()


torch.manual_seed(139)
model = Matcher()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for step in range(1, 81):
    loss = training_step(model, optimizer)
    if step % 20 == 0:
        print(f"step {step} loss {loss:.4f} found {search(model):.2f}")
