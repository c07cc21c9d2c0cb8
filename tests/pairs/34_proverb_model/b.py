import math

import torch

from common import DIM, HEADS, LAYERS, batch, initial

SIZE = DIM // HEADS


def layer_norm(x, w, b):
    mu = x.mean(dim=-1, keepdim=True)
    sigma = torch.sqrt(((x - mu) ** 2).mean(dim=-1, keepdim=True) + 1e-5)
    return w * ((x - mu) / sigma) + b


def gelu(x):
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    return x * torch.sigmoid(2 * inner)


class Decoder:
    def __init__(self, p):
        self.p = {}
        for name, value in p.items():
            if name.endswith("qkv"):
                for part, w in zip("qkv", value.split(DIM)):
                    for h, rows in enumerate(w.split(SIZE)):
                        self.p[f"{name[:-3]}{part}{h}"] = rows.t().contiguous()
            elif name.endswith("proj"):
                for h, columns in enumerate(value.t().split(SIZE)):
                    self.p[f"{name}{h}"] = columns.contiguous()
            else:
                self.p[name] = value.clone()
        for value in self.p.values():
            value.requires_grad_(True)

    def head(self, i, h, x):
        q, k, v = (x @ self.p[f"{i}.{part}{h}"] for part in "qkv")
        t = x.shape[1]
        logits = q @ k.transpose(1, 2) / math.sqrt(SIZE)
        ahead = torch.arange(t)[None, :] > torch.arange(t)[:, None]
        logits = torch.where(ahead, torch.tensor(-1e9), logits)
        top = logits.max(dim=-1, keepdim=True).values.detach()
        e = torch.exp(logits - top)
        return (e / e.sum(-1, keepdim=True)) @ v

    def __call__(self, ids):
        p = self.p
        x = p["tok"][ids] + p["pos"][: ids.shape[1]]
        for i in range(LAYERS):
            y = layer_norm(x, p[f"{i}.ln1"], p[f"{i}.ln1_b"])
            for h in range(HEADS):
                x = x + self.head(i, h, y) @ p[f"{i}.proj{h}"]
            y = layer_norm(x, p[f"{i}.ln2"], p[f"{i}.ln2_b"])
            y = gelu(y @ p[f"{i}.up"].T + p[f"{i}.up_b"])
            x = x + (y @ p[f"{i}.down"].T + p[f"{i}.down_b"])
        return layer_norm(x, p["ln"], p["ln_b"]) @ p["tok"].T


model = Decoder(initial())
opt = torch.optim.SGD(model.p.values(), lr=0.1)
for step in range(3):
    x, y = batch(step)
    logits = model(x)
    picked = torch.gather(logits, 2, y[..., None])[..., 0]
    loss = (torch.logsumexp(logits, dim=-1) - picked).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
