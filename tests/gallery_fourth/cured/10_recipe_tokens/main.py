import torch
from torch.nn import functional as F

from lm import RecipeLM
from tokens import resize_embeddings

torch.manual_seed(2)
gen = torch.Generator().manual_seed(8)


def recipes(n, vocab, length=14):
    """Each step of a recipe follows from the one before (and now and then a surprise)."""
    ids = torch.randint(vocab, (n, 1), generator=gen)
    for _ in range(length):
        nxt = (ids[:, -1:] * 3 + 1) % vocab
        odd = torch.rand(n, 1, generator=gen) < 0.1
        ids = torch.cat([ids, torch.where(odd, torch.randint(vocab, (n, 1), generator=gen), nxt)], 1)
    return ids[:, :-1], ids[:, 1:]


def train(model, vocab, steps, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for step in range(steps):
        x, y = recipes(24, vocab)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            print(f"  step {step + 1} perplexity {loss.exp().item():.2f}")


model = RecipeLM(vocab=16)
print("cooking only")
train(model, 16, 40, lr=1e-2)
model = resize_embeddings(model, 22)
print("cooking and baking,", sum(p.numel() for p in model.parameters()), "weights")
train(model, 22, 50, lr=1e-2)
