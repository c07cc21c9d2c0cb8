import torch


class Objective:
    """Pseudo-Huber loss."""

    def __init__(self, delta):
        self.delta = delta

    def __call__(self, pred, target):
        error = (pred - target) / self.delta
        return (self.delta ** 2 * (torch.sqrt(1 + error ** 2) - 1)).mean()
