import torch

TEXT = "a stitch in time saves nine. still waters run deep. the early bird catches the worm. " * 4
LETTERS = sorted(set(TEXT))
VOCAB, DIM, HEADS, LAYERS, BLOCK = len(LETTERS), 24, 3, 2, 18


def initial():
    g = torch.Generator().manual_seed(77)
    draw = lambda *shape: torch.randn(*shape, generator=g)
    p = {"tok": draw(VOCAB, DIM) * 0.3, "pos": draw(BLOCK, DIM) * 0.1}
    for i in range(LAYERS):
        p[f"{i}.qkv"] = draw(3 * DIM, DIM) / DIM**0.5
        p[f"{i}.proj"] = draw(DIM, DIM) / DIM**0.5
        p[f"{i}.up"], p[f"{i}.up_b"] = draw(4 * DIM, DIM) / DIM**0.5, draw(4 * DIM) * 0.1
        p[f"{i}.down"], p[f"{i}.down_b"] = draw(DIM, 4 * DIM) / (4 * DIM) ** 0.5, draw(DIM) * 0.1
        for j in (1, 2):
            p[f"{i}.ln{j}"], p[f"{i}.ln{j}_b"] = 1 + draw(DIM) * 0.1, draw(DIM) * 0.1
    p["ln"], p["ln_b"] = 1 + draw(DIM) * 0.1, draw(DIM) * 0.1
    return p


def batch(step, n=5):
    data = torch.tensor([LETTERS.index(c) for c in TEXT])
    g = torch.Generator().manual_seed(step)
    at = torch.randint(0, len(data) - BLOCK - 1, (n, 1), generator=g) + torch.arange(BLOCK + 1)
    return data[at[:, :-1]], data[at[:, 1:]]
