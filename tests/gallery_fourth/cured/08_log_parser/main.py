import torch
from torch.nn import functional as F

from blocks import Parser
from weights import reset_weights

torch.manual_seed(4)
gen = torch.Generator().manual_seed(4)
VOCAB, TAGS = 20, 5


def lines(n):
    """A token's tag depends on its kind and on the kind of the token before."""
    ids = torch.randint(VOCAB, (n, 12), generator=gen)
    before = torch.cat([torch.zeros(n, 1, dtype=torch.long), ids[:, :-1]], 1)
    return ids, (ids % 5 + (before >= 10).long()) % TAGS


model = reset_weights(Parser(VOCAB, TAGS))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(1, 91):
    ids, tags = lines(32)
    logits = model(ids)
    loss = F.cross_entropy(logits.flatten(0, 1), tags.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 0:
        print(f"{step} loss {loss.item():.4f} right {(logits.argmax(-1) == tags).float().mean():.3f}")
