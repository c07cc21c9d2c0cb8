"""Two recurrent networks learn to spell: each reads a page of text character by character (see data/SOURCE.md)."""

import pathlib

import graphscope as torch
import graphscope.nn as nn
import graphscope.nn.functional as F

HIDDEN = 32
LENGTH = 24
BATCH = 16
STEPS = 40

text = (pathlib.Path(__file__).parent / "data" / "alice.txt").read_text(encoding="ascii")
letters = sorted(set(text))
numbers = torch.tensor([letters.index(letter) for letter in text])


class Speller(nn.Module):
    """Embeds each character, reads on, and says which one comes next."""

    def __init__(self, cell):
        super().__init__()
        self.embedding = nn.Embedding(len(letters), HIDDEN)
        self.cell = cell(HIDDEN, HIDDEN, batch_first=True)
        self.head = nn.Linear(HIDDEN, len(letters))

    def forward(self, x, state=None):
        out, state = self.cell(self.embedding(x), state)
        return self.head(out), state


def batch(step):
    """Stretches of the text, evenly spread, and the same moved by one character."""
    stride = (len(text) - LENGTH - 1) // BATCH
    starts = [place * stride + step % stride for place in range(BATCH)]
    x = torch.stack([numbers[start : start + LENGTH] for start in starts])
    y = torch.stack([numbers[start + 1 : start + LENGTH + 1] for start in starts])
    return x, y


def train(cell):
    torch.manual_seed(0)
    model = Speller(cell)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for step in range(STEPS):
        x, y = batch(step)
        scores, _ = model(x)
        loss = F.cross_entropy(scores.reshape(-1, len(letters)), y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model, loss.item()


def write(model, start, count):
    """Go on from `start`, always with the likeliest character."""
    written = start
    x, state = torch.tensor([[letters.index(letter) for letter in start]]), None
    with torch.no_grad():
        for _ in range(count):
            scores, state = model(x, state)
            best = scores[0, -1].argmax().item()
            written += letters[best]
            x = torch.tensor([[best]])
    return written


for cell in (nn.RNN, nn.LSTM):
    model, loss = train(cell)
    print(f"{cell.__name__:4}: loss {loss:.3f} after {STEPS} steps; it writes {write(model, 'Alice ', 24)!r}")

# `b scope:cell* backward` stops within the cell; `contributions` of its weights has one summand for each character.
print("Question: through how many tanh must the gradient of the last character pass to reach the first?")
