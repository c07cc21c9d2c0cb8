"""Word-level LSTM whose output layer shares the embedding matrix."""
import argparse

import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.encoder = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, dim, batch_first=True)
        self.decoder = nn.Linear(dim, vocab)
        self.decoder.weight = self.encoder.weight
        self.reset(0.1)

    def reset(self, span):
        nn.init.uniform_(self.encoder.weight, -span, span)
        nn.init.zeros_(self.decoder.bias)
        self.decoder.weight = nn.Parameter(torch.empty_like(self.decoder.weight).uniform_(-span, span))

    def forward(self, ids):
        h, _ = self.rnn(self.encoder(ids))
        return self.decoder(h)


class Grammar:
    """Words repeat after a while: what was read comes again."""

    def __init__(self, vocab, period):
        self.vocab, self.period = vocab, period

    def sample(self, n, length):
        head = torch.randint(0, self.vocab, (n, self.period))
        ids = head.repeat(1, length // self.period + 2)[:, : length + 1]
        return ids[:, :-1], ids[:, 1:]


def main(args):
    torch.manual_seed(args.seed)
    model = Reader(args.vocab, args.dim)
    grammar = Grammar(args.vocab, period=2)
    total = sum(p.numel() for p in model.parameters())
    print(f"{total} weights, {args.vocab * args.dim} of them for each vocabulary matrix")
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for step in range(args.steps):
        x, y = grammar.sample(32, 8)
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        if (step + 1) % 20 == 0:
            print(f"step {step + 1:3d} loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab", type=int, default=40)
    parser.add_argument("--dim", type=int, default=48)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args())
