"""Keywords in a stream of audio features; the front end removes a running mean."""
import torch
from torch import nn

from stream.frontend import FrontEnd


class Spotter(nn.Module):
    def __init__(self, bands=10, width=24, words=4):
        super().__init__()
        self.front = FrontEnd(bands, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, words)

    def forward(self, x):
        h, _ = self.rnn(self.front(x))
        return self.out(h[:, -1])


def stream(n, size=32):
    for i in range(n):
        y = torch.randint(0, 4, (size,))
        x = torch.randn(size, 12, 10) * 0.7
        x[torch.arange(size), :, y] += 0.8
        yield x + 0.005 * i, y


def main():
    torch.manual_seed(122)
    model = Spotter()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for i, (x, y) in enumerate(stream(50)):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 10 == 0 or i == 49:
            print(f"{i:2d} loss {loss.item():.4f}", flush=True)


main()
