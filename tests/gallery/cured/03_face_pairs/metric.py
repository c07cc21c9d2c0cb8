import torch


def squared(a, b):
    return ((a - b) ** 2).sum(dim=1)


def euclidean(a, b):
    return torch.sqrt(squared(a, b) + 1e-10)


def cosine(a, b):
    return 1 - torch.cosine_similarity(a, b, dim=1)
