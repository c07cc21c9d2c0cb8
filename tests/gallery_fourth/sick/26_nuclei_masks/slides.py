import torch


def slides(n, gen, size=20):
    """Grey slides with three round nuclei each."""
    y, x = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    centre = torch.randint(3, size - 3, (n, 3, 2, 1, 1), generator=gen)
    disk = ((y - centre[:, :, 0]) ** 2 + (x - centre[:, :, 1]) ** 2 <= 8).any(1, keepdim=True).float()
    return disk * 1.5 - 0.3 + 0.4 * torch.randn(n, 1, size, size, generator=gen), disk
