"""The recurrences written out, gate by gate."""

import torch
from torch import nn

import a


class GruCell(nn.Module):
    def __init__(self, source, suffix):
        super().__init__()
        w, u = (getattr(source, f"weight_{part}_{suffix}").data.chunk(3) for part in ("ih", "hh"))
        b, c = (getattr(source, f"bias_{part}_{suffix}").data.chunk(3) for part in ("ih", "hh"))
        for name, i in (("reset", 0), ("update", 1), ("new", 2)):
            setattr(self, f"w_{name}", nn.Parameter(w[i].t().clone()))
            setattr(self, f"u_{name}", nn.Parameter(u[i].t().clone()))
            setattr(self, f"b_{name}", nn.Parameter(b[i].clone()))
            setattr(self, f"c_{name}", nn.Parameter(c[i].clone()))

    def forward(self, x, h):
        r = torch.sigmoid(x @ self.w_reset + h @ self.u_reset + (self.b_reset + self.c_reset))
        z = torch.sigmoid(x @ self.w_update + h @ self.u_update + (self.b_update + self.c_update))
        n = torch.tanh(x @ self.w_new + self.b_new + r * (h @ self.u_new + self.c_new))
        return n + z * (h - n)


class Rivers(nn.Module):
    def __init__(self, source):
        super().__init__()
        self.hidden = source.gru.hidden_size
        self.forth = nn.ModuleList(GruCell(source.gru, f"l{i}") for i in range(2))
        self.back = nn.ModuleList(GruCell(source.gru, f"l{i}_reverse") for i in range(2))
        self.out = source.head

    def run(self, cell, xs):
        h = torch.zeros(xs[0].shape[0], self.hidden)
        states = []
        for x in xs:
            h = cell(x, h)
            states.append(h)
        return states

    def forward(self, x):
        xs = list(x.unbind(1))
        for forth, back in zip(self.forth, self.back):
            one = self.run(forth, xs)
            two = self.run(back, xs[::-1])[::-1]
            xs = [torch.cat(pair, dim=1) for pair in zip(one, two)]
        return torch.cat([self.out(x) for x in xs], dim=1)


def main():
    torch.manual_seed(99)
    model = Rivers(a.River())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(3):
        rain, level = a.levels(step)
        error = model(rain) - level
        loss = (error * error).sum() / error.numel()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
