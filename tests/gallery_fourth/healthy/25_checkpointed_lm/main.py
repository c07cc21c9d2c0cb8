import torch
from torch.nn import functional as F

from lm import LM

torch.manual_seed(25)
gen = torch.Generator().manual_seed(25)
VOCAB, LENGTH = 14, 12


def loops(n):
    """A phrase of four notes that repeats."""
    return torch.randint(VOCAB, (n, 4), generator=gen).repeat(1, 4)[:, : LENGTH + 1]


model = LM(VOCAB, LENGTH)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, betas=(0.9, 0.95))
for step in range(1, 71):
    notes = loops(32)
    loss = F.cross_entropy(model(notes[:, :-1]).flatten(0, 1), notes[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 14 == 0:
        print(f"step {step} loss {loss.item():.4f}")
