"""Next-chord model in the functional style: parameters in a dict, no modules."""
import torch
import torch.nn.functional as F
from torch.func import grad_and_value

CHORDS, DIM, CONTEXT = 9, 32, 12


def init(generator):
    def matrix(*shape):
        return torch.randn(*shape, generator=generator) * shape[0] ** -0.5

    return {
        "embed": torch.randn(CHORDS, DIM, generator=generator) * 0.5,
        "place": torch.randn(CONTEXT, DIM, generator=generator) * 0.1,
        "query": matrix(DIM, DIM), "key": matrix(DIM, DIM), "value": matrix(DIM, DIM),
        "up": matrix(DIM, 2 * DIM), "down": matrix(2 * DIM, DIM), "out": matrix(DIM, CHORDS),
    }


def attend(p, h):
    q, k, v = h @ p["query"], h @ p["key"], h @ p["value"]
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def log_probs(p, ids):
    h = p["embed"][ids] + p["place"]
    h = h + attend(p, h)
    h = h + F.gelu(h @ p["up"]) @ p["down"]
    return F.log_softmax(h @ p["out"], dim=-1)


def objective(p, ids, following):
    return F.nll_loss(log_probs(p, ids).flatten(0, 1), following.flatten())


def progressions(n, generator):
    start = torch.randint(CHORDS, (n, 1), generator=generator)
    stride = 3 * torch.randint(2, (n, 1), generator=generator)
    chords = (start + stride * torch.arange(CONTEXT + 1)) % CHORDS
    return chords[:, :-1], chords[:, 1:]


def main(steps=100, rate=3e-3):
    g = torch.Generator().manual_seed(20)
    p = init(g)
    m = {k: torch.zeros_like(v) for k, v in p.items()}
    s = {k: torch.zeros_like(v) for k, v in p.items()}
    descend = grad_and_value(objective)
    for t in range(1, steps + 1):
        ids, following = progressions(32, g)
        grads, loss = descend(p, ids, following)
        for k in p:
            m[k] = 0.9 * m[k] + 0.1 * grads[k]
            s[k] = 0.99 * s[k] + 0.01 * grads[k] ** 2
            p[k] = p[k] - rate * (m[k] / (1 - 0.9**t)) / ((s[k] / (1 - 0.99**t)).sqrt() + 1e-8)
        if t % 20 == 0:
            hits = (log_probs(p, ids)[:, -1].argmax(-1) == following[:, -1]).float().mean()
            print(f"step {t} loss {loss.item():.4f} last chord right {hits.item():.2f}")


main()
