import torch
from torch import nn


class Equilibrium(nn.Module):
    """z = tanh(W z + U x + b), solved without a graph; the gradient by a second fixed point."""

    def __init__(self, inputs, dim, rounds=30):
        super().__init__()
        self.w = nn.Linear(dim, dim, bias=False)
        self.u = nn.Linear(inputs, dim)
        nn.init.orthogonal_(self.w.weight, gain=0.5)
        self.rounds = rounds

    def cell(self, z, x):
        return torch.tanh(self.w(z) + self.u(x))

    def forward(self, x):
        with torch.no_grad():
            z = torch.zeros(len(x), self.w.out_features)
            for _ in range(self.rounds):
                z = self.cell(z, x)
        z = self.cell(z, x)
        if self.training:
            z0 = z.clone().detach().requires_grad_()
            f0 = self.cell(z0, x)

            def backward_hook(grad):
                g = grad
                for _ in range(self.rounds // 2):
                    g = torch.autograd.grad(f0, z0, g, retain_graph=True)[0] + grad
                return g

            z.register_hook(backward_hook)
        return z
