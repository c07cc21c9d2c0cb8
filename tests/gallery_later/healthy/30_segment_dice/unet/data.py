import torch


def fields(n, size=16, cells=3):
    row, col = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    mask = torch.zeros(n, size, size, dtype=torch.bool)
    for _ in range(cells):
        r, c = torch.randint(1, size - 1, (2, n, 1, 1))
        mask |= (row - r) ** 2 + (col - c) ** 2 < 6
    mask = mask.float().unsqueeze(1)
    return 1.5 * mask - 0.4 + 0.6 * torch.randn(n, 1, size, size), mask
