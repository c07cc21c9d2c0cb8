import torch
from torch import nn

torch.manual_seed(2)
lstm = nn.LSTM(4, 5, bidirectional=True, batch_first=True)
x = torch.randn(3, 6, 4)


def run(seq, suffix):
    w, u, b, c = (getattr(lstm, f"{n}_l0{suffix}") for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    h = s = torch.zeros(3, 5)
    outs = []
    for t in seq:
        i, f, g, o = (x[:, t] @ w.T + b + h @ u.T + c).split(5, 1)
        s = f.sigmoid() * s + i.sigmoid() * g.tanh()
        h = o.sigmoid() * s.tanh()
        outs.append(h)
    return outs


forward, back = run(range(6), ""), run(range(5, -1, -1), "_reverse")
out = torch.cat([torch.stack(forward, 1), torch.stack(back[::-1], 1)], -1)
loss = out.square().mean()
loss.backward()
