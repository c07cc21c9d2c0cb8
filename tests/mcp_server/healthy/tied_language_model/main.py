"""Letters that follow letters: a GRU whose last layer shares its weight with the embedding."""

import torch
from torch import nn

torch.manual_seed(4)
TEXT = "the quick brown fox jumps over the lazy dog while seven wizards quietly box up the jam " * 12
LETTERS = sorted(set(TEXT))
codes = torch.tensor([LETTERS.index(letter) for letter in TEXT])


class Model(nn.Module):
    def __init__(self, letters, width=32):
        super().__init__()
        self.embed = nn.Embedding(letters, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(width, letters)
        self.out.weight = self.embed.weight
        nn.init.normal_(self.embed.weight, std=0.1)

    def forward(self, tokens):
        hidden, _ = self.gru(self.embed(tokens))
        return self.out(self.drop(hidden))


def batch(size=32, length=24):
    starts = torch.randint(0, len(codes) - length - 1, (size, 1))
    places = starts + torch.arange(length + 1)
    return codes[places[:, :-1]], codes[places[:, 1:]]


model = Model(len(LETTERS))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 120)
losses = []
for step in range(120):
    tokens, wanted = batch()
    logits = model(tokens)
    loss = nn.functional.cross_entropy(logits.reshape(-1, len(LETTERS)), wanted.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    losses.append(loss.item())
    if step % 30 == 29:
        print(f"step {step + 1} loss {losses[-1]:.4f}")
print(f"loss from {losses[0]:.4f} to {losses[-1]:.4f}")
