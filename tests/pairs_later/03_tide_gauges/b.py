"""The tide model with its cell written out, to read the gates."""

import torch
from series import CHUNK, CHUNKS, HIDDEN, initial, series

p = {name: value.requires_grad_() for name, value in initial().items()}
optimizer = torch.optim.Adam(p.values(), lr=5e-3)


def cell(x, h, c):
    gates = x @ p["weight_ih_l0"].T + p["bias_ih_l0"] + h @ p["weight_hh_l0"].T + p["bias_hh_l0"]
    i, f, g, o = gates.chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


data = series()
for epoch in range(3):
    h = torch.zeros(len(data), HIDDEN)
    c = torch.zeros(len(data), HIDDEN)
    errors = []
    for t in range(CHUNK * CHUNKS):
        if t % CHUNK == 0:
            h = h.detach()
        h, c = cell(data[:, t], h, c)
        guess = h @ p["weight"].T + p["bias"]
        errors.append((guess - data[:, t + 1]).square())
    loss = torch.stack(errors).mean() * CHUNKS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
