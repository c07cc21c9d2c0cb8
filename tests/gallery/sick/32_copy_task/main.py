"""Looking up the token that a pointer names: needs attention that works."""
import torch
from torch import nn

from seq.transformer import Transformer


def pointers(n, length=8, vocab=10):
    """The first token is a position; the answer is the token at that position."""
    tokens = torch.randint(0, vocab, (n, length))
    where = torch.randint(0, length, (n,))
    answer = tokens[torch.arange(n), where]
    ids = torch.cat([(vocab + where).unsqueeze(1), tokens], dim=1)
    return ids, answer


@torch.no_grad()
def accuracy(model):
    model.eval()
    ids, answer = pointers(60)
    acc = sum(model(q[None]).argmax(-1).item() == a.item() for q, a in zip(ids, answer)) / len(ids)
    model.train()
    return acc


def main(steps=100):
    torch.manual_seed(0)
    model = Transformer(vocab=18, length=9, dim=32, heads=4, depth=2, classes=10)
    opt = torch.optim.Adam(model.parameters(), lr=6e-3)
    for step in range(steps):
        ids, answer = pointers(96)
        loss = nn.functional.cross_entropy(model(ids), answer)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if (step + 1) % 20 == 0:
            print(f"step {step + 1:3d} loss {loss.item():.4f} accuracy {accuracy(model):.2f}")


if __name__ == "__main__":
    main()
