import torch
from torch.nn import functional as F


def contrastive(a, b, same, margin=1.0):
    """Pulls pairs of one speaker together and pushes others a margin apart."""
    distance = F.pairwise_distance(a, b)
    terms = []
    for d, s in zip(distance, same):
        if s:
            terms.append(d.pow(2).item())
        else:
            terms.append(max(0.0, margin - d.item()) ** 2)
    return torch.tensor(sum(terms) / len(terms), requires_grad=True)
