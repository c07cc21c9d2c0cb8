"""The dialect model head by head, for the talk."""

import torch
from weights import GROUPS, HEAD, HEADS, SOUNDS, weights, words

p = {name: value.requires_grad_() for name, value in weights().items()}
optimizer = torch.optim.Adagrad(p.values(), lr=0.02)


def column(weight, head):
    return weight[:, head * HEAD : (head + 1) * HEAD]


def attend(x):
    length = x.shape[1]
    later = torch.ones(length, length, dtype=torch.bool).triu(1)
    merged = 0
    for head in range(HEADS):
        group = head % GROUPS
        q = x @ column(p["wq"], head)
        k = x @ column(p["wk"], group)
        v = x @ column(p["wv"], group)
        scores = torch.baddbmm(torch.zeros(()), q, k.mT, alpha=HEAD**-0.5)
        chances = scores.masked_fill(later, -torch.inf).softmax(-1)
        merged = merged + chances @ v @ p["wo"][head * HEAD : (head + 1) * HEAD]
    return merged


for step in range(3):
    ids = words(step)
    x = p["sounds"][ids[:, :-1]]
    x = x + attend(x)
    log_p = torch.log_softmax(x @ p["out"], dim=-1)
    target = torch.nn.functional.one_hot(ids[:, 1:], SOUNDS)
    loss = -(target * log_p).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step}: {loss.item():.5f}")
