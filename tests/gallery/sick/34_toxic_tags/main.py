"""Several tags per comment, bag of words."""
import torch
from torch import nn

from tags.model import TagModel


class Comments:
    def __init__(self, vocab=80, tags=6, words=15):
        self.vocab, self.words = vocab, words
        self.rule = (torch.rand(tags, vocab) < 0.06).float()

    def sample(self, n):
        ids = torch.randint(0, self.vocab, (n, self.words))
        bag = torch.zeros(n, self.vocab).scatter_(1, ids, 1.0)
        return ids, ((bag @ self.rule.T) > 1.5).float()


def f1(logits, y):
    p = (logits > 0.5).float()
    tp = (p * y).sum()
    return (2 * tp / (p.sum() + y.sum() + 1e-6)).item()


def main():
    torch.manual_seed(44)
    comments = Comments()
    model = TagModel(vocab=80, dim=32, tags=6)
    criterion = nn.BCEWithLogitsLoss()
    opt = torch.optim.Adam(model.parameters(), lr=2e-2)
    for step in range(110):
        ids, y = comments.sample(64)
        out = model(ids)
        loss = criterion(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 22 == 21:
            print(f"step {step + 1:3d} loss {loss.item():.4f} f1 {f1(out, y):.3f}")


if __name__ == "__main__":
    main()
