import torch
import torch.nn.functional as F


def soften(labels, classes, eps):
    target = torch.full((len(labels), classes), eps / classes)
    target.scatter_(1, labels[:, None], 1 - eps + eps / classes)
    return target


class KLWithTargets(torch.nn.Module):
    """Kullback-Leibler divergence between target distributions and predictions."""

    def forward(self, logits, target):
        logp = F.log_softmax(logits, dim=1)
        pointwise = target * (target.log() - logp)
        return pointwise.sum(dim=1).mean()
