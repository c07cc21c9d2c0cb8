import torch
import torch.nn.functional as F


def link_loss(model, adjacency, x, edges, strangers):
    z = model.encode(adjacency, x)
    friend, stranger = model.decode(z, edges), model.decode(z, strangers)
    scores = torch.cat([friend, stranger])
    labels = torch.cat([torch.ones_like(friend), torch.zeros_like(stranger)])
    return F.binary_cross_entropy_with_logits(scores, labels), (friend.mean() - stranger.mean()).item()
