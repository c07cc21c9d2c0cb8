import torch
from torch import nn

from crf import CRF

torch.manual_seed(10)
gen = torch.Generator().manual_seed(10)
O, B, I = 0, 1, 2


def sentences(n, length=9):
    """Words 20-24 begin a name, 25-29 go on with it, the rest is plain; padding is word 0."""
    ids = torch.randint(1, 20, (n, length), generator=gen)
    tags = torch.zeros(n, length, dtype=torch.long)
    at = torch.randint(length - 1, (n,), generator=gen)
    rows = torch.arange(n)
    ids[rows, at] = 20 + torch.randint(5, (n,), generator=gen)
    ids[rows, at + 1] = 25 + torch.randint(5, (n,), generator=gen)
    tags[rows, at], tags[rows, at + 1] = B, I
    mask = torch.arange(length) < torch.randint(3, length + 1, (n, 1), generator=gen)
    return ids * mask, tags * mask, mask


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16, padding_idx=0)
        self.lstm = nn.LSTM(16, 12, batch_first=True, bidirectional=True)
        self.score = nn.Linear(24, 3)
        self.crf = CRF(3, forbidden=[(O, I)])

    def forward(self, ids, tags, mask):
        return self.crf(self.score(self.lstm(self.embed(ids))[0]), tags, mask)


model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(1, 61):
    loss = model(*sentences(24))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 12 == 0:
        print(f"step {step} nll {loss.item():.4f}")
