import torch

WIDTH, HEADS, GROUPS, SOUNDS = 24, 4, 2, 30
HEAD = WIDTH // HEADS


def weights():
    g = torch.Generator().manual_seed(91)
    shapes = {
        "sounds": (SOUNDS, WIDTH),
        "wq": (WIDTH, HEADS * HEAD),
        "wk": (WIDTH, GROUPS * HEAD),
        "wv": (WIDTH, GROUPS * HEAD),
        "wo": (HEADS * HEAD, WIDTH),
        "out": (WIDTH, SOUNDS),
    }
    return {name: torch.randn(shape, generator=g) * 0.35 for name, shape in shapes.items()}


def words(step):
    g = torch.Generator().manual_seed(910 + step)
    return torch.randint(SOUNDS, (4, 11), generator=g)
