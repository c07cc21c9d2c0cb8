import torch
import torch.nn as nn

torch.manual_seed(0)
rnn = nn.GRU(4, 8, batch_first=True)
fc = nn.Linear(8, 1)
opt = torch.optim.Adam([*rnn.parameters(), *fc.parameters()], lr=1e-3)
h = None
for step in range(10):
    x = torch.randn(4, 5, 4)
    out, h = rnn(x, h)
    loss = fc(out).pow(2).mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
    h.detach()  # <-- state_not_detached
