import math

import torch

from release import tensors

p = tensors()
heads = 4


def conv1d(name, x):
    return x @ p[name + "/w"] + p[name + "/b"]


def norm(name, x, eps=1e-5):
    u = x.mean(-1, keepdim=True)
    s = ((x - u) ** 2).mean(-1, keepdim=True)
    return (x - u) / torch.sqrt(s + eps) * p[name + "/g"] + p[name + "/b"]


def gelu(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def attn(name, x):
    n, t, d = x.shape
    q, k, v = conv1d(name + "/c_attn", x).chunk(3, dim=-1)
    q, k, v = (y.reshape(n, t, heads, d // heads).transpose(1, 2) for y in (q, k, v))
    w = q @ k.transpose(-1, -2) / math.sqrt(d // heads)
    w = w.masked_fill(torch.ones(t, t).triu(1).bool(), -1e10)
    y = (torch.softmax(w, dim=-1) @ v).transpose(1, 2).reshape(n, t, d)
    y = conv1d(name + "/c_proj", y)
    return y


def mlp(name, x):
    h = gelu(conv1d(name + "/c_fc", x))
    return conv1d(name + "/c_proj", h)


def model(ids):
    h = p["wte"][ids] + p["wpe"][: ids.shape[1]]
    for i in range(2):
        h = h + attn(f"h{i}/attn", norm(f"h{i}/ln_1", h))
        h = h + mlp(f"h{i}/mlp", norm(f"h{i}/ln_2", h))
    return norm("ln_f", h) @ p["wte"].T


if __name__ == "__main__":
    for value in p.values():
        value.requires_grad_()
    ids = torch.randint(0, 60, (4, 14), generator=torch.Generator().manual_seed(9))
    logits = model(ids)
    logp = logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None])
    loss = -logp.mean()
    loss.backward()
    print(loss.item(), p["wte"].grad.norm().item())
