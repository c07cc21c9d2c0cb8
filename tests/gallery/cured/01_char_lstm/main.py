"""Character model over one long stream, trained chunk by chunk with a carried state."""
import argparse

import torch
from torch import nn

TEXT = "it was the best of times, it was the worst of times, it was the age of wisdom. " * 40


class CharModel(nn.Module):
    def __init__(self, vocab, emb=16, hidden=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb)
        self.rnn = nn.LSTM(emb, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x, state=None):
        h, state = self.rnn(self.embed(x), state)
        return self.out(h), state


class Stream:
    """Cuts the text in `rows` parallel streams and walks over them."""

    def __init__(self, text, rows, length):
        self.chars = sorted(set(text))
        table = {c: i for i, c in enumerate(self.chars)}
        ids = torch.tensor([table[c] for c in text])
        n = len(ids) // rows
        self.ids = ids[: n * rows].view(rows, n)
        self.length = length

    def __iter__(self):
        for i in range(0, self.ids.shape[1] - self.length - 1, self.length):
            yield self.ids[:, i:i + self.length], self.ids[:, i + 1:i + 1 + self.length]


def train(args):
    torch.manual_seed(args.seed)
    data = Stream(TEXT, args.rows, args.length)
    model = CharModel(len(data.chars))
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        state = None
        total, count = 0.0, 0
        for x, y in data:
            opt.zero_grad()
            logits, state = model(x, state)
            state = tuple(s.detach() for s in state)
            loss = loss_fn(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item()
            count += 1
        print(f"epoch {epoch}  loss {total / count:.4f}")
    return model


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--length", type=int, default=25)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--seed", type=int, default=0)
    train(parser.parse_args())
