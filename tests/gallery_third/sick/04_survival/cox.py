import torch


def partial_likelihood(risk, time, observed):
    """Negative log partial likelihood of Cox; the longest survivors come first."""
    order = torch.argsort(time, descending=True)
    risk, observed = risk[order], observed[order]
    at_risk = torch.cumsum(torch.exp(risk), dim=0)
    return -((risk - torch.log(at_risk)) * observed).sum() / observed.sum()


def concordance(risk, time):
    earlier = time[:, None] < time[None, :]
    higher = risk[:, None] > risk[None, :]
    return (higher & earlier).sum().item() / earlier.sum().item()
