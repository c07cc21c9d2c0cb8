import torch

FEATURES, HIDDEN, CHUNK, CHUNKS = 4, 10, 6, 3


def series():
    g = torch.Generator().manual_seed(21)
    t = torch.arange(CHUNK * CHUNKS + 1, dtype=torch.get_default_dtype())
    phase = torch.rand(5, FEATURES, generator=g) * 6.28
    waves = torch.sin(t[None, :, None] * 0.4 + phase[:, None, :])
    return waves + 0.05 * torch.randn(waves.shape, generator=g)


def initial():
    g = torch.Generator().manual_seed(22)
    shapes = {
        "weight_ih_l0": (4 * HIDDEN, FEATURES),
        "weight_hh_l0": (4 * HIDDEN, HIDDEN),
        "bias_ih_l0": (4 * HIDDEN,),
        "bias_hh_l0": (4 * HIDDEN,),
        "weight": (FEATURES, HIDDEN),
        "bias": (FEATURES,),
    }
    return {name: torch.randn(shape, generator=g) * 0.4 for name, shape in shapes.items()}
