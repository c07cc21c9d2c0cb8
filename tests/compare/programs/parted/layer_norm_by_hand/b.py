import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

net = nn.ModuleDict({"fc1": nn.Linear(12, 24), "norm": nn.LayerNorm(24), "fc2": nn.Linear(24, 5)})
x = torch.randn(16, 12)
y = torch.randint(0, 5, (16,))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def layer_norm(x, weight, bias, eps):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred**2).mean(-1, keepdim=True)
    x = centred / torch.sqrt(variance + eps)  # <-- forward
    return x * weight + bias


for _ in range(2):
    h = (x @ net["fc1"].weight.T + net["fc1"].bias).clamp(min=0)
    h = layer_norm(h, net["norm"].weight, net["norm"].bias, 1e-8)
    logits = h @ net["fc2"].weight.T + net["fc2"].bias
    loss = -F.log_softmax(logits, dim=-1)[torch.arange(16), y].mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
