"""The mixer as plain functions over a dict of tensors."""

import math

import torch
import torch.nn.functional as F


def init(patch=4, size=16, dim=24, depth=2, classes=5):
    """Same draws, in the same order, as the module version makes them."""
    p = {}
    tokens = (size // patch) ** 2
    stem = torch.nn.Conv2d(3, dim, patch, stride=patch)
    p["stem.w"], p["stem.b"] = stem.weight.detach().reshape(dim, -1), stem.bias.detach()
    for i in range(depth):
        for part, n, hidden in (("tok", tokens, 2 * tokens), ("ch", dim, 4 * dim)):
            up, down = torch.nn.Linear(n, hidden), torch.nn.Linear(hidden, n)
            torch.nn.init.orthogonal_(up.weight, gain=1.6)
            p[f"{i}.{part}.w1"], p[f"{i}.{part}.b1"] = up.weight.detach().t().clone(), up.bias.detach()
            p[f"{i}.{part}.w2"], p[f"{i}.{part}.b2"] = down.weight.detach().t().clone(), down.bias.detach()
            p[f"{i}.{part}.g"], p[f"{i}.{part}.s"] = torch.ones(dim), torch.zeros(dim)
    p["g"], p["s"] = torch.ones(dim), torch.zeros(dim)
    head = torch.nn.Linear(dim, classes)
    p["head.w"], p["head.b"] = head.weight.detach(), head.bias.detach()
    return {name: value.requires_grad_() for name, value in p.items()}


def gelu(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def layer_norm(x, gain, shift, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(var + eps) * gain + shift


def mlp(p, prefix, x):
    h = gelu(x @ p[prefix + ".w1"] + p[prefix + ".b1"])
    return h @ p[prefix + ".w2"] + p[prefix + ".b2"]


def forward(p, images, depth=2, patch=4):
    columns = F.unfold(images, patch, stride=patch).transpose(1, 2)
    x = columns @ p["stem.w"].t() + p["stem.b"]
    for i in range(depth):
        y = layer_norm(x, p[f"{i}.tok.g"], p[f"{i}.tok.s"])
        y = mlp(p, f"{i}.tok", y.mT)
        x = y.mT + x
        y = layer_norm(x, p[f"{i}.ch.g"], p[f"{i}.ch.s"])
        x = mlp(p, f"{i}.ch", y) + x
    x = layer_norm(x, p["g"], p["s"]).mean(1)
    return x @ p["head.w"].t() + p["head.b"]


if __name__ == "__main__":
    torch.manual_seed(3)
    params = init()
    torch.manual_seed(4)
    images = torch.randn(3, 8, 3, 16, 16) * 2
    labels = torch.randint(0, 5, (3, 8))
    opt = torch.optim.SGD(params.values(), lr=0.1)
    for step in range(3):
        logp = forward(params, images[step]).log_softmax(-1)
        loss = -logp[torch.arange(8), labels[step]].mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())
