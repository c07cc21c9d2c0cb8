"""Port with einsum, one tensor per head, names of the JAX original."""

import torch
from torch import nn

from a import DIM, HEADS, cells, weights


def translate(old):
    new = {}
    for i, part in enumerate(("query", "key", "value")):
        rows = slice(i * DIM, (i + 1) * DIM)
        w = old["attn.in_proj_weight"][rows].T
        new[f"attention/{part}/kernel"] = w.reshape(DIM, HEADS, DIM // HEADS)
        new[f"attention/{part}/bias"] = old["attn.in_proj_bias"][rows].reshape(HEADS, DIM // HEADS)
    new["attention/out/kernel"] = old["attn.out_proj.weight"].T.reshape(HEADS, DIM // HEADS, DIM)
    for theirs, mine in (("inp", "dense_in"), ("ff.0", "mlp/up"), ("ff.2", "mlp/down"), ("out", "head")):
        new[f"{mine}/kernel"] = old[f"{theirs}.weight"].T
        new[f"{mine}/bias"] = old[f"{theirs}.bias"]
    new["norm/scale"], new["norm/bias"] = old["norm.weight"], old["norm.bias"]
    return {k: nn.Parameter(v.clone().contiguous()) for k, v in new.items()}


def dense(p, name, x):
    return torch.einsum("...i,ij->...j", x, p[name + "/kernel"]) + p[name + "/bias"]


def attention(p, x):
    q, k, v = (
        torch.einsum("btd,dhk->bthk", x, p[f"attention/{n}/kernel"]) + p[f"attention/{n}/bias"]
        for n in ("query", "key", "value")
    )
    logits = torch.einsum("bqhk,bshk->bhqs", q * (DIM // HEADS) ** -0.5, k)
    probs = torch.softmax(logits, dim=-1)
    context = torch.einsum("bhqs,bshk->bqhk", probs, v)
    return torch.einsum("bqhk,hkd->bqd", context, p["attention/out/kernel"])


def apply(p, x):
    x = dense(p, "dense_in", x)
    x = x + attention(p, x)
    mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
    x = (x - mean) * torch.rsqrt(var + 1e-5) * p["norm/scale"] + p["norm/bias"]
    h = dense(p, "mlp/up", x)
    h = h * torch.sigmoid(h)
    x = x + dense(p, "mlp/down", h)
    return dense(p, "head", x.mean(1))


params = translate(weights())
opt = torch.optim.SGD(params.values(), lr=0.05)
for step in range(2):
    x, y = cells(step)
    logits = apply(params, x)
    picked = logits.gather(1, y[:, None]).squeeze(1)
    loss = (torch.logsumexp(logits, 1) - picked).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
