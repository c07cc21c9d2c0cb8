import torch.nn as nn


class Scaled(nn.Module):
    """Puts pixels in [0, 1] on the scale the backbone was trained with."""

    def __init__(self, net, mean=0.5, std=0.25):
        super().__init__()
        self.net, self.mean, self.std = net, mean, std

    def forward(self, x):
        return self.net((x - self.mean) / self.std)


def freeze(model):
    for name, p in model.named_parameters():
        if "head" not in name:
            p.requires_grad_(False)


def unfreeze(model, blocks):
    for name, p in model.named_parameters():
        if any(block in name for block in blocks):
            p.requires_grad_(True)
