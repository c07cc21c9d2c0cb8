import torch
from torch import nn

from cohort import cohort
from cox import concordance, partial_likelihood


class RiskNet(nn.Module):
    def __init__(self, covariates, trend=0.01):
        super().__init__()
        self.hidden = nn.Linear(covariates, 32)
        self.risk = nn.Linear(32, 1)
        self.register_buffer("trend", torch.tensor(trend))

    def forward(self, x, day):
        return self.risk(torch.relu(self.hidden(x))).squeeze(1) + self.trend * day


def fit(batch=40, lr=2e-2):
    torch.manual_seed(4)
    x, day, time, observed = cohort()
    net = RiskNet(x.shape[1])
    opt = torch.optim.Adam(net.parameters(), lr=lr, weight_decay=1e-4)
    for step, i in enumerate(range(0, len(x), batch), 1):
        part = slice(i, i + batch)
        risk = net(x[part], day[part])
        loss = partial_likelihood(risk, time[part], observed[part])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(f"batch {step} (until day {day[part][-1]:.0f}) loss {loss.item():.4f} "
                  f"concordance {concordance(risk.detach() - net.trend * day[part], time[part]):.3f}")


fit()
