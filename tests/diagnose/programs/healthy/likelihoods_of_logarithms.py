import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
teacher = nn.Linear(8, 4).requires_grad_(False)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
ctc = nn.CTCLoss()
for step in range(12):
    x = torch.randn(12, 8)
    y = x[:, :4].argmax(1)
    p = F.softmax(net(x), 1)
    loss = F.nll_loss(torch.log(p + 1e-8), y)
    mixture = 0.5 * F.softmax(net(x), 1) + 0.5 * F.softmax(net(-x), 1)
    loss = loss + F.nll_loss(mixture.log(), y)
    t = F.log_softmax(teacher(x), 1)
    loss = loss + F.kl_div(F.log_softmax(net(x), 1), t, log_target=True, reduction="batchmean")
    loss = loss + F.kl_div(p.log(), t.exp(), reduction="batchmean")
    lp = net(torch.randn(20, 3, 8)).log_softmax(2)
    loss = loss + ctc(lp, torch.randint(1, 4, (3, 5)), torch.full((3,), 20), torch.full((3,), 5))
    opt.zero_grad()
    loss.backward()
    opt.step()
