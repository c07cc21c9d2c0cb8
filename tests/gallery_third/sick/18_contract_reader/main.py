import torch
from torch.nn.functional import cross_entropy

from reading.net import Reader

WORDS, LABELS = 60, 5


def contracts(n, length):
    """Each label has four tell-tale words that are strewn in."""
    label = torch.randint(LABELS, (n,))
    ids = torch.randint(4 * LABELS, WORDS, (n, length))
    own = 4 * label[:, None] + torch.randint(4, (n, length))
    return torch.where(torch.rand(n, length) < 0.15, own, ids), label


def main():
    torch.manual_seed(180)
    model = Reader(WORDS, LABELS)
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(1, 71):
        length = 48 if step % 9 == 0 and step > 20 else int(torch.randint(12, 33, (1,)))
        ids, label = contracts(32, length)
        out = model(ids)
        loss = cross_entropy(out, label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(f"{step} loss {loss.item():.4f} right {(out.argmax(1) == label).float().mean():.2f}")


main()
