from torch.distributions import Normal


def loss_of(mean, spread, observed):
    return -Normal(mean, spread).log_prob(observed).mean()
