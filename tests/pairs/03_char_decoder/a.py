import torch
import torch.nn.functional as F

from blocks import CharGPT

torch.manual_seed(1337)
TEXT = "the quick brown fox jumps over the lazy dog while five wizards box. " * 6
chars = sorted(set(TEXT))
data = torch.tensor([chars.index(c) for c in TEXT])
model = CharGPT(len(chars), 32, 4, 2, 24)


def get_batch(step, n=6, t=24):
    g = torch.Generator().manual_seed(step)
    at = torch.randint(0, len(data) - t - 1, (n,), generator=g)
    return torch.stack([data[i : i + t] for i in at]), torch.stack([data[i + 1 : i + t + 1] for i in at])


optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(2):
    xb, yb = get_batch(step)
    logits = model(xb)
    loss = F.cross_entropy(logits.view(-1, len(chars)), yb.view(-1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    print(f"iter {step}: loss {loss.item():.4f}")
