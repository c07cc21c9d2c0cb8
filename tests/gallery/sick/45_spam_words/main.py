"""Spam filter on bags of words, with fixed seeds."""
import random

import torch
from torch import nn

from text.vocabulary import Vocabulary

SPAM = "win money free prize click now offer cash".split()
HAM = "meeting report lunch project review team call notes".split()
COMMON = "the a to and of in on for with you we is".split()


def message(spam):
    own = SPAM if spam else HAM
    other = HAM if spam else SPAM
    words = random.choices(own, k=3) + random.choices(other, k=1) + random.choices(COMMON, k=8)
    random.shuffle(words)
    return words


def mailbox(n):
    labels = [random.random() < 0.4 for _ in range(n)]
    return [message(s) for s in labels], torch.tensor(labels).float()


class Filter(nn.Module):
    def __init__(self, words, dim=12):
        super().__init__()
        self.embed = nn.EmbeddingBag(words, dim)
        self.hidden = nn.Linear(dim, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, ids):
        return self.out(torch.relu(self.hidden(self.embed(ids)))).squeeze(1)


def main():
    random.seed(0)
    torch.manual_seed(0)
    texts, y = mailbox(320)
    vocab = Vocabulary(texts)
    ids = torch.stack([vocab.encode(t) for t in texts])
    model = Filter(len(vocab))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    loss_fn = nn.BCEWithLogitsLoss()
    for epoch in range(5):
        total = 0.0
        for part in torch.arange(len(y)).split(32):
            loss = loss_fn(model(ids[part]), y[part])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / 10:.6f}")


if __name__ == "__main__":
    main()
