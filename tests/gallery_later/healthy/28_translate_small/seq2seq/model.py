import torch
from torch import nn


class Translator(nn.Module):
    def __init__(self, source, target, dim):
        super().__init__()
        self.start = target
        self.read = nn.Embedding(source, dim)
        self.encoder = nn.GRU(dim, dim, batch_first=True)
        self.write = nn.Embedding(target + 1, dim)
        self.decoder = nn.GRUCell(dim, dim)
        self.out = nn.Linear(dim, target)

    def forward(self, source, target):
        _, h = self.encoder(self.read(source))
        h = h[0]
        word = torch.full((len(source),), self.start)
        outputs = []
        for k in range(target.shape[1]):
            h = self.decoder(self.write(word), h)
            outputs.append(self.out(h))
            word = target[:, k]
        return torch.stack(outputs, dim=1)

    def greedy(self, source, length=2):
        _, h = self.encoder(self.read(source))
        h = h[0]
        word = torch.full((len(source),), self.start)
        words = []
        for _ in range(length):
            h = self.decoder(self.write(word), h)
            word = self.out(h).argmax(-1)
            words.append(word)
        return torch.stack(words, dim=1)
