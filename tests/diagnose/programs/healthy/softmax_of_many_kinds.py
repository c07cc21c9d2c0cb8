import torch
from torch import nn
from torch.nn import functional as F
from torch.distributions import Categorical

torch.manual_seed(0)
D = 8
q, k, v = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D)
slots = nn.Parameter(torch.randn(1, 5, D))
cent = nn.Parameter(torch.randn(4, D))
pol = nn.Linear(D, 3)
sc = nn.Linear(D, 1)
seg = nn.Conv2d(D, 4, 1)
temp = nn.Linear(D, D)
moe = nn.Linear(D, 6)
lab = nn.Linear(D, 4)
caps = nn.Parameter(torch.randn(6, 5, D) * 0.1)
ps = [
    *q.parameters(),
    *k.parameters(),
    *v.parameters(),
    slots,
    cent,
    *pol.parameters(),
    *sc.parameters(),
    *seg.parameters(),
    *temp.parameters(),
    *moe.parameters(),
    *lab.parameters(),
    caps,
]
o = torch.optim.Adam(ps, 1e-3)
for step in range(12):
    x = torch.randn(5, 5, D)
    loss = 0.0
    # slot attention, 5 slots over 5 inputs, renormalised
    dots = torch.einsum("bid,bjd->bij", q(slots.expand(5, -1, -1)), k(x))
    at = dots.softmax(dim=1) + 1e-8
    at = at / at.sum(-1, keepdim=True)
    loss = loss + torch.einsum("bij,bjd->bid", at, v(x)).pow(2).mean()
    # matmul variant
    a2 = (q(slots.expand(5, -1, -1)) @ k(x).transpose(1, 2)).softmax(1)
    a2 = a2 / (a2.sum(-1, keepdim=True) + 1e-8)
    loss = loss + (a2 @ v(x)).mean()
    # netvlad / EM / diffpool
    r = (x @ cent.t()).softmax(-1)
    loss = loss + (r.transpose(1, 2) @ x).pow(2).mean()
    rr = (x[:, 0] @ cent.t()).softmax(1)
    mu = (rr[:, :, None] * x[:, 0][:, None, :]).sum(0) / rr.sum(0)[:, None]
    loss = loss + (mu - cent).pow(2).mean()
    s1 = lab(x).softmax(-1)
    adj = s1.transpose(1, 2) @ x @ x.transpose(1, 2) @ s1
    loss = loss + adj.mean() * 0.01
    # seq-first pooling
    xs = x.transpose(0, 1)
    w = sc(xs).softmax(0)
    loss = loss + (w * xs).sum(0).mean()
    # unbatched policy
    d = Categorical(probs=F.softmax(pol(x[0, 0]), dim=0))
    a = d.sample()
    loss = loss - d.log_prob(a)
    d = Categorical(probs=F.softmax(pol(x[:, 0]), dim=-1))
    a = d.sample()
    loss = loss - d.log_prob(a).mean()
    # linear attention
    qq, kk = q(x).softmax(-1), k(x).softmax(1)
    loss = loss + (qq @ (kk.transpose(1, 2) @ v(x))).pow(2).mean()
    # soft moe
    lg = moe(x)
    disp = lg.softmax(1)
    comb = lg.softmax(2)
    loss = loss + (comb @ (disp.transpose(1, 2) @ x)).pow(2).mean()
    # clip
    sim = F.normalize(q(x[:, 0]), dim=1) @ F.normalize(k(x[:, 1]), dim=1).t()
    lb = torch.arange(5)
    loss = (
        loss
        - F.log_softmax(sim, 0).diag().mean()
        + F.nll_loss(F.log_softmax(sim, 1), lb)
        + F.nll_loss(F.log_softmax(sim, 0), lb)
    )
    # dual softmax matching
    m = sim.softmax(0) * sim.softmax(1)
    loss = loss - m.max()
    # segmentation
    im = torch.randn(2, D, 4, 4)
    loss = loss + F.nll_loss(F.log_softmax(seg(im), 1), torch.randint(0, 4, (2, 4, 4)))
    loss = loss + F.nll_loss(F.log_softmax(lab(x), -1).transpose(1, 2), torch.randint(0, 4, (5, 5)))
    loss = loss + F.nll_loss(F.log_softmax(lab(x), -1).view(-1, 4), torch.randint(0, 4, (25,)))
    # distill
    loss = loss + F.kl_div(F.log_softmax(lab(x) / 2, -1), F.softmax(torch.randn(5, 5, 4), -1), reduction="batchmean")
    # capsules
    u = caps[None] * x[:, :1, None, :]
    b = torch.zeros(5, 6, 5)
    for _ in range(2):
        c = b.softmax(2)
        sj = (c[..., None] * u).sum(1)
        b = b + (u * sj[:, None]).sum(-1)
    loss = loss + sj.pow(2).mean()
    # t=1 attention
    one = x[:, :1]
    loss = loss + ((q(one) @ k(one).transpose(1, 2)).softmax(-1) @ v(one)).mean()
    lo = (torch.randn(5, 4).softmax(1) * F.log_softmax(lab(x[:, 0]), 1)).sum(1).mean()
    loss = loss - lo
    o.zero_grad()
    loss.backward()
    o.step()
