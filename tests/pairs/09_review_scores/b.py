"""Scores of reviews with a trained model (weights by seed here), inference only."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ConvScore(nn.Module):
    def __init__(self, vocab=120, dim=20, widths=(2, 3, 4), filters=12, p=0.2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.convs = nn.ModuleList(nn.Conv1d(dim, filters, w) for w in widths)
        self.fc1 = nn.Linear(filters * len(widths), 16)
        self.fc2 = nn.Linear(16, 1)
        self.p = p

    def forward(self, ids):
        x = self.embed(ids).transpose(1, 2)
        pooled = [F.relu(conv(x)).amax(dim=2) for conv in self.convs]
        features = torch.cat(pooled, dim=1)
        features = F.dropout(features, self.p)
        h = torch.relu(self.fc1(features))
        return self.fc2(h).squeeze(1)


def main():
    torch.manual_seed(11)
    model = ConvScore()
    model.eval()
    ids = torch.randint(0, 120, (10, 25))
    with torch.inference_mode():
        scores = torch.sigmoid(model(ids))
    print([round(s, 4) for s in scores.tolist()])


if __name__ == "__main__":
    main()
