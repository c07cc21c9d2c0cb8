import random

import torch


def survey(n):
    gen = torch.Generator().manual_seed(31)
    area = 60 + 120 * torch.rand(n, generator=gen)
    year = torch.randint(1930, 2020, (n,), generator=gen).float()
    glazing = torch.randint(3, (n,), generator=gen)
    use = 0.8 * (area - 120) / 35 - (year - 1975) / 26 - 0.7 * (glazing - 1) + 0.2 * torch.randn(n, generator=gen)
    label = torch.bucketize(use, torch.tensor([-0.9, 0.9]))
    numbers = torch.stack([(area - 120) / 35, (year - 1975) / 26], 1)
    return numbers, glazing, label


def split(n, share=0.8):
    order = list(range(n))
    random.Random(5).shuffle(order)
    cut = int(n * share)
    return torch.tensor(order[:cut]), torch.tensor(order[cut:])
