import torch

from module import Emulator
from trainer import Trainer


def simulator(n):
    while True:
        x = torch.randn(n, 10)
        yield x, torch.sin(x[:, 0] * 2) + x[:, 1] * x[:, 2] + 0.3 * x[:, 3:].sum(1)


torch.manual_seed(111)
Trainer(steps=60).fit(Emulator(), simulator(48))
