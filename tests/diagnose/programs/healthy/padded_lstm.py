"""Sentences of many lengths: padding that has no embedding, packed for an LSTM."""

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16, padding_idx=0)
        self.lstm = nn.LSTM(16, 16, batch_first=True, bidirectional=True)
        self.out = nn.Linear(32, 4)

    def forward(self, x, n):
        h, _ = self.lstm(pack_padded_sequence(self.embed(x), n, batch_first=True, enforce_sorted=False))
        return self.out(pad_packed_sequence(h, batch_first=True)[0])


net = Tagger()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(20):
    n = torch.randint(3, 9, (16,))
    x = pad_sequence([torch.randint(1, 30, (k,)) for k in n.tolist()], batch_first=True)
    y = torch.where(x > 0, x % 4, -100)
    loss = nn.functional.cross_entropy(net(x, n).transpose(1, 2), y, ignore_index=-100)
    opt.zero_grad()
    loss.backward()
    opt.step()
