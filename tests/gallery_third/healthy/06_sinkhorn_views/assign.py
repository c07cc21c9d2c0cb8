import torch


@torch.no_grad()
def sinkhorn(scores, eps=0.1, rounds=3):
    """Soft assignment of the batch to the prototypes, every prototype used equally."""
    q = torch.exp((scores - scores.max()) / eps).t()
    q /= q.sum()
    k, b = q.shape
    for _ in range(rounds):
        q /= q.sum(dim=1, keepdim=True) * k
        q /= q.sum(dim=0, keepdim=True) * b
    return (q * b).t()
