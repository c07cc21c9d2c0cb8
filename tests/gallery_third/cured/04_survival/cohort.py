import torch


def cohort(n=2400, seed=8):
    """Patients in order of their enrolment: covariates, day of enrolment, time to event, observed."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 8, generator=g)
    day = torch.sort(torch.rand(n, generator=g) * 12000).values
    hazard = 1.2 * x[:, 0] - 0.9 * x[:, 1] + 0.8 * x[:, 2] * x[:, 3]
    time = torch.empty(n).exponential_(1.0, generator=g) / hazard.exp()
    observed = (torch.rand(n, generator=g) < 0.8).float()
    return x, day, time, observed
