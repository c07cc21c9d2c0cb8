"""Set classifier over cells: each cell is a vector of markers, attention over the cells."""

import torch
import torch.nn as nn

MARKERS, DIM, HEADS, TYPES = 10, 24, 4, 5


class CellSet(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(MARKERS, DIM)
        self.attn = nn.MultiheadAttention(DIM, HEADS, batch_first=True)
        self.norm = nn.LayerNorm(DIM)
        self.ff = nn.Sequential(nn.Linear(DIM, 48), nn.SiLU(), nn.Linear(48, DIM))
        self.out = nn.Linear(DIM, TYPES)

    def forward(self, cells):
        x = self.inp(cells)
        mixed, _ = self.attn(x, x, x, need_weights=False)
        x = self.norm(x + mixed)
        x = x + self.ff(x)
        return self.out(x.mean(dim=1))


def weights():
    torch.manual_seed(31)
    model = CellSet()
    for name, p in model.named_parameters():
        if name.endswith("bias"):
            nn.init.normal_(p, std=0.2)
    return model.state_dict()


def cells(step):
    g = torch.Generator().manual_seed(40 + step)
    return torch.randn(6, 15, MARKERS, generator=g), torch.randint(0, TYPES, (6,), generator=g)


if __name__ == "__main__":
    model = CellSet()
    model.load_state_dict(weights())
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(2):
        x, y = cells(step)
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())
