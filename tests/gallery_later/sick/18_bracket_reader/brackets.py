import torch


def batch(n, length=12):
    """Half the strings end at depth zero or above everywhere, half do not."""
    ids = torch.randint(0, 2, (n, length))
    up = torch.rand(n) < 0.5
    ids[up, :4] = (torch.rand(int(up.sum()), 4) < 0.1).long()
    depth = (1 - 2 * ids).cumsum(1)
    return ids, (depth.min(1).values >= -1).float()
