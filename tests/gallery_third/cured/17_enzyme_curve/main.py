"""Kinetics of three enzymes, fitted with L-BFGS."""
import torch


class Kinetics(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.log_vmax = torch.nn.Parameter(torch.zeros(3))
        self.log_km = torch.nn.Parameter(torch.zeros(3))
        self.hill = torch.nn.Parameter(torch.ones(3))

    def forward(self, s):
        vmax, km = self.log_vmax.exp(), self.log_km.exp()
        up = s[:, None] ** self.hill
        return vmax * up / (km ** self.hill + up)


def measure(n=40):
    s = torch.linspace(0.1, 12, n)
    truth = Kinetics()
    with torch.no_grad():
        truth.log_vmax.copy_(torch.tensor([1.4, 0.2, -0.8]))
        truth.log_km.copy_(torch.tensor([1.0, -0.7, 0.4]))
        truth.hill.copy_(torch.tensor([1.8, 1.0, 2.5]))
        return s, truth(s) + 0.02 * torch.randn(n, 3)


class Fit:
    def __init__(self, model, s, v):
        self.model, self.s, self.v = model, s, v
        self.opt = torch.optim.LBFGS(model.parameters(), max_iter=5, history_size=6, line_search_fn="strong_wolfe")

    def objective(self):
        self.opt.zero_grad()
        loss = (self.model(self.s) - self.v).square().sum(0).mean()
        loss.backward()
        return loss

    def run(self, rounds):
        for r in range(rounds):
            loss = self.opt.step(self.objective)
            if r % 4 == 3:
                print("round", r + 1, "residual", loss.item())


torch.manual_seed(23)
Fit(Kinetics(), *measure()).run(16)
