import torch
import torch.nn.functional as F

from .texts import FIRST, MASK


def corrupt(ids, generator, rate=0.2):
    word = ids >= FIRST
    picked = word & (torch.rand(ids.shape, generator=generator) < rate)
    return ids.masked_fill(picked, MASK), picked


def mlm_loss(logits, ids, picked):
    each = F.cross_entropy(logits.transpose(1, 2), ids, reduction="none")
    return (each * picked).sum() / picked.sum()
