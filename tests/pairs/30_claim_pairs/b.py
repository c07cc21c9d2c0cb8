"""Both sentences go through the encoder in one batch; the first dense layer is four products."""

import torch
import torch.nn.functional as F

import a


def translate(model):
    p = {name: t.detach().clone() for name, t in model.state_dict().items()}
    blocks = p.pop("hidden.weight").t().chunk(4)
    p.update({f"hidden.{name}": w.contiguous() for name, w in zip(("first", "second", "gap", "both"), blocks)})
    return {name: t.requires_grad_() for name, t in p.items()}


def encode(p, ids):
    x = F.embedding(ids, p["encoder.embed.weight"])
    score = torch.einsum("ntd,od->nto", x, p["encoder.score.weight"]) + p["encoder.score.bias"]
    weight = torch.softmax(score.transpose(1, 2), dim=-1)
    pooled = torch.bmm(weight, x).squeeze(1)
    return torch.tanh(F.linear(pooled, p["encoder.dense.weight"], p["encoder.dense.bias"]))


def predict(p, premise, claim):
    codes = encode(p, torch.cat([claim, premise]))
    u, v = codes.chunk(2)
    h = u @ p["hidden.first"] + v @ p["hidden.second"] + p["hidden.bias"]
    h = h + torch.abs(u - v) @ p["hidden.gap"]
    h = h + (u * v) @ p["hidden.both"]
    return F.linear(h.relu(), p["out.weight"], p["out.bias"])


torch.manual_seed(44)
params = translate(a.Follows())
opt = torch.optim.SGD(params.values(), lr=0.1)
for step in range(2):
    premise, claim, label = a.sentences(step)
    logits = predict(params, premise, claim)
    loss = torch.logsumexp(logits, 1).sub(logits[torch.arange(9), label]).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
