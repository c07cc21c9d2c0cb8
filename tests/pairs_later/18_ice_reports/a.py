"""Ice reports of ships: an encoder of torch over reports of unlike length."""

import torch
from torch import nn

WORDS, WIDTH, HEADS, CLASSES, LONGEST = 50, 24, 4, 3, 10


class Reports(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH, padding_idx=0)
        self.places = nn.Parameter(torch.randn(LONGEST, WIDTH) * 0.1)
        layer = nn.TransformerEncoderLayer(
            WIDTH, HEADS, dim_feedforward=48, dropout=0.0, activation="gelu", batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.classes = nn.Linear(WIDTH, CLASSES)

    def forward(self, ids):
        padding = ids.eq(0)
        x = self.words(ids) + self.places[: ids.shape[1]]
        x = self.encoder(x, src_key_padding_mask=padding)
        x = x.masked_fill(padding.unsqueeze(-1), float("-inf")).amax(1)
        return self.classes(x)


def reports(step):
    g = torch.Generator().manual_seed(1800 + step)
    ids = torch.randint(1, WORDS, (5, LONGEST), generator=g)
    for row, length in zip(ids, torch.randint(4, LONGEST + 1, (5,), generator=g).tolist()):
        row[length:] = 0
    return ids, ids[:, 0] % CLASSES


if __name__ == "__main__":
    torch.manual_seed(18)
    model = Reports()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.1, eps=1e-6)
    for step in range(3):
        ids, label = reports(step)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(ids), label)
        loss.backward()
        optimizer.step()
        print(f"{step} {loss.item():.6f}")
