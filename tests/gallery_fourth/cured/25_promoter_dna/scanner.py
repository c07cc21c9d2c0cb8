import torch
from torch import nn


class Scanner(nn.Module):
    def __init__(self, letters=5, dim=8, motifs=32):
        super().__init__()
        self.embed = nn.Embedding(letters, dim)
        self.conv = nn.Conv1d(dim, motifs, 6)
        self.judge = nn.Linear(motifs, 2)

    def forward(self, codes):
        x = self.embed(codes).transpose(1, 2)
        return self.judge(torch.relu(self.conv(x)).amax(-1))
