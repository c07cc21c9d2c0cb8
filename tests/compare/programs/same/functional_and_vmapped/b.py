import torch
from torch import nn

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 3))
x, y = torch.randn(10, 6), torch.randn(10, 3)
from torch.func import functional_call, vmap

params = {k: v.detach().clone().requires_grad_() for k, v in net.named_parameters()}
for step in range(2):
    out = vmap(lambda s: functional_call(net, params, (s,)))(x)
    loss = ((out - y) ** 2).mean()
    grads = torch.autograd.grad(loss, list(params.values()))
    params = {k: (p - 0.1 * g).detach().requires_grad_() for (k, p), g in zip(params.items(), grads)}
