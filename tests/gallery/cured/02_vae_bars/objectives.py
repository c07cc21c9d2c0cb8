import torch


def kl_to_standard(mu, logvar):
    return 0.5 * (mu.pow(2) + logvar.exp() - 1 - logvar).sum(dim=1)


def bernoulli_nll(x, p):
    p = p.clamp(1e-6, 1 - 1e-6)
    ll = x * torch.log(p) + (1 - x) * torch.log(1 - p)
    return -ll.sum(dim=1)


def elbo(x, p, mu, logvar, beta=1.0):
    return (bernoulli_nll(x, p) + beta * kl_to_standard(mu, logvar)).mean()
