import torch
from torch import nn


class TinyLM(nn.Module):
    def __init__(self, vocab, dim=32, length=32):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(length, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        nn.init.normal_(self.tok.weight, std=0.15)
        self.lm_head.weight = self.tok.weight

    def embed(self, ids):
        return self.tok(ids) + self.pos.weight[: ids.shape[1]]

    def forward(self, emb):
        t = emb.shape[1]
        mask = torch.full((t, t), float("-inf")).triu(1)
        h = self.blocks(emb, mask=mask)
        return self.lm_head(h)
