import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.gru = nn.GRU(dim, dim, batch_first=True, bidirectional=True)

    def forward(self, ids):
        out, _ = self.gru(self.embed(ids))
        return out.mean(1)


class StarClassifier(nn.Module):
    def __init__(self, vocab, dim=24, stars=3):
        super().__init__()
        self.encoder = Encoder(vocab, dim)
        self.head = nn.Sequential(
            nn.Linear(2 * dim, dim),
            nn.Tanh(),
            nn.Linear(dim, stars),
            nn.Softmax(dim=-1),
        )

    def forward(self, ids):
        return self.head(self.encoder(ids))

    @torch.no_grad()
    def predict(self, ids):
        return self.forward(ids).argmax(-1)
