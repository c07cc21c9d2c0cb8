import torch
from torch import nn


class RecipeLM(nn.Module):
    """A small language model whose input and output embeddings are one matrix."""

    def __init__(self, vocab, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.lstm = nn.LSTM(dim, dim, batch_first=True)
        self.norm = nn.LayerNorm(dim)
        self.decoder = nn.Linear(dim, vocab, bias=False)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.tie_weights()

    def tie_weights(self):
        self.decoder.weight = self.embed.weight

    def forward(self, ids):
        out, _ = self.lstm(self.embed(ids))
        return self.decoder(self.norm(out))
