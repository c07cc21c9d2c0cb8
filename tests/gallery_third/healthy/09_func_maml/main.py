import torch
from torch import nn
from torch.func import functional_call, grad, vmap


class Regressor(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(1, width), nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, x):
        return self.c(torch.relu(self.b(torch.relu(self.a(x)))))


def tasks(n, shots=10):
    slope, shift = 3 * torch.rand(n, 1, 1) - 1.5, torch.randn(n, 1, 1)
    x = 4 * torch.rand(n, 2 * shots, 1) - 2
    y = slope * x.abs() + shift + 2 * (3 * x).sin()
    return x[:, :shots], y[:, :shots], x[:, shots:], y[:, shots:]


def main(rounds=90, inner=0.05):
    torch.manual_seed(9)
    model = Regressor()
    weights = dict(model.named_parameters())
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)

    def error(w, x, y):
        return (functional_call(model, w, (x,)) - y).square().mean()

    def adapted_error(xs, ys, xq, yq):
        w = weights
        for _ in range(2):
            g = grad(error)(w, xs, ys)
            w = {k: v - inner * g[k] for k, v in w.items()}
        return error(w, xq, yq)

    for r in range(1, rounds + 1):
        loss = vmap(adapted_error)(*tasks(24)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if r % 20 == 0:
            print(f"round {r} error after two steps {loss.item():.4f}")


main()
