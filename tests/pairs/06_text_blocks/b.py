import torch
import torch.nn as nn
import torch.nn.functional as F

from release import tensors


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Linear(d, 3 * d)
        self.c_proj = nn.Linear(d, d)

    def forward(self, x):
        q, k, v = self.c_attn(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.transpose(1, 2).flatten(2)
        return self.c_proj(y)


class MLP(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.c_fc = nn.Linear(d, 4 * d)
        self.act = nn.GELU(approximate="tanh")
        self.c_proj = nn.Linear(4 * d, d)

    def forward(self, x):
        return self.c_proj(self.act(self.c_fc(x)))


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.ln_1 = nn.LayerNorm(d)
        self.attn = Attention(d, heads)
        self.ln_2 = nn.LayerNorm(d)
        self.mlp = MLP(d)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, vocab=60, ctx=14, d=24, heads=4, layers=2):
        super().__init__()
        self.wte = nn.Embedding(vocab, d)
        self.wpe = nn.Embedding(ctx, d)
        self.h = nn.ModuleList(Block(d, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(d)
        self.head = nn.Linear(d, vocab, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1]))
        for block in self.h:
            x = block(x)
        return self.head(self.ln_f(x))


@torch.no_grad()
def load(model, released):
    own = model.state_dict()
    for name, value in released.items():
        key = name.replace("/", ".").replace("h0", "h.0").replace("h1", "h.1")
        if key in ("wte", "wpe"):
            key += ".weight"
        key = key.removesuffix(".w") + ".weight" if key.endswith(".w") else key
        key = key.removesuffix(".g") + ".weight" if key.endswith(".g") else key
        key = key.removesuffix(".b") + ".bias" if key.endswith(".b") else key
        if own[key].shape != value.shape:
            value = value.t()
        own[key].copy_(value)


def main():
    model = GPT()
    load(model, tensors())
    ids = torch.randint(0, 60, (4, 14), generator=torch.Generator().manual_seed(9))
    loss = F.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    loss.backward()
    print(loss.item(), model.wte.weight.grad.norm().item())


if __name__ == "__main__":
    main()
