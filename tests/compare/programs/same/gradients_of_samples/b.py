import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad_and_value, vmap

torch.manual_seed(6)
net = nn.Sequential(nn.Linear(7, 11), nn.Tanh(), nn.Linear(11, 3))
rows = torch.randn(5, 7)
labels = torch.randint(0, 3, (5,))


def loss_of(parameters, row, label):
    return F.cross_entropy(functional_call(net, parameters, (row[None],)), label[None])


per_sample = vmap(grad_and_value(loss_of), in_dims=(None, 0, 0))
for _ in range(2):
    parameters = {name: each.detach() for name, each in net.named_parameters()}
    grads, losses = per_sample(parameters, rows, labels)
    norms = torch.sqrt(sum((each.flatten(1) ** 2).sum(1) for each in grads.values()))
    scale = torch.clamp(1.0 / (norms + 1e-6), max=1.0)
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            total = torch.einsum("b,b...->...", scale, grads[name])
            parameter -= 0.1 * total / len(rows)
