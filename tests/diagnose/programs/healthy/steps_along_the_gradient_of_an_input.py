import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
energy = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam([*net.parameters(), *energy.parameters()], lr=1e-3)
for step in range(10):
    x = torch.randn(32, 2)
    y = (x[:, 0] > 0).long()
    d = (0.1 * torch.randn_like(x)).requires_grad_()
    out = net(x).detach().softmax(1)
    div = nn.functional.kl_div(net(x + d).log_softmax(1), out, reduction="batchmean")
    (g,) = torch.autograd.grad(div, d)
    adv = x + 0.3 * g / (g.norm(dim=1, keepdim=True) + 1e-8)
    vat = nn.functional.kl_div(net(adv).log_softmax(1), out, reduction="batchmean")
    z = torch.randn(32, 2, requires_grad=True)
    for _ in range(3):
        (g,) = torch.autograd.grad(energy(z).sum(), z)
        z = (z - 0.1 * g + 0.05 * torch.randn_like(z)).detach().requires_grad_()
    ebm = energy(x).mean() - energy(z.detach()).mean() + 0.01 * energy(x).pow(2).mean()
    loss = nn.functional.cross_entropy(net(x), y) + vat + ebm
    opt.zero_grad()
    loss.backward()
    opt.step()
