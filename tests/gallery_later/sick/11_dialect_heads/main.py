"""One recurrent encoder, one classifier per dialect."""
import torch
import torch.nn.functional as F

from speech.base import DialectModel

DIALECTS = ("north", "south", "isles")


class GRUModel(DialectModel):
    def build_encoder(self, columns, width):
        return torch.nn.GRU(columns, width, batch_first=True)

    def encode(self, x):
        _, h = self.encoder(x)
        return h[-1]


def recordings(rule, n=48):
    x = torch.randn(n, 9, 6)
    return x, (x.mean(1) * 3 @ rule).argmax(1)


def main():
    torch.manual_seed(111)
    rules = {d: torch.randn(6, 5) for d in DIALECTS}
    model = GRUModel(6, 20, {d: 5 for d in DIALECTS})
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(72):
        dialect = DIALECTS[step % 3]
        x, y = recordings(rules[dialect])
        loss = F.cross_entropy(model(x, dialect), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 12 >= 9 and step >= 9:
            print(f"{step:2d} {dialect:5s} loss {loss.item():.4f}")


main()
