import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 3))
x, y = torch.randn(10, 6), torch.randn(10, 3)
from torch.func import functional_call, grad_and_value

params = {k: v.detach() for k, v in net.named_parameters()}


def f(p, x, y):
    return F.mse_loss(functional_call(net, p, (x,)), y)


grads, loss = grad_and_value(f)(params, x, y)
