"""Sequence to sequence: reverse the order of the steps of a recipe."""
import torch
from torch import nn
import torch.nn.functional as F

from translate.model import Decoder, Encoder

VOCAB, START, LENGTH = 14, 0, 6


class Seq2Seq(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.encoder = Encoder(VOCAB, dim, LENGTH)
        self.decoder = Decoder(VOCAB, dim, LENGTH)

    def forward(self, src, tgt_in):
        memory = self.encoder(src)
        return self.decoder(tgt_in, memory)


def batch(n=48):
    src = torch.randint(1, VOCAB, (n, LENGTH))
    tgt = src.flip(1)
    return src, torch.cat([torch.full((n, 1), START), tgt[:, :-1]], dim=1), tgt


def main():
    torch.manual_seed(115)
    model = Seq2Seq(dim=48)
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    for step in range(80):
        src, tgt_in, tgt = batch()
        loss = F.cross_entropy(model(src, tgt_in).flatten(0, 1), tgt.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 16 == 15:
            print(f"{step + 1} loss {loss.item():.4f}")


main()
