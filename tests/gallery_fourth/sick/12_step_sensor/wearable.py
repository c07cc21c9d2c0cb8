import torch


def recordings(n, gen, length=24, axes=4):
    """(n, length, axes): walking, running and stairs differ in pace and axis."""
    kind = torch.randint(3, (n,), generator=gen)
    t = torch.arange(length).view(1, length, 1) / length
    pace = torch.tensor([2.0, 5.0, 3.0])[kind].view(n, 1, 1)
    axis = torch.nn.functional.one_hot(kind, axes).view(n, 1, axes).float() + 0.3
    phase = torch.rand(n, 1, 1, generator=gen) * 6.2832
    return torch.sin(6.2832 * pace * t + phase) * axis + 0.1 * torch.randn(n, length, axes, generator=gen), kind
