"""The decoder of the myths with complex numbers for its turns; the rows of queries and keys are in another order."""

import torch
import torch.nn.functional as F
from release import BASE, EPS, GROUPS, HEAD, HEADS, LAYERS, WIDTH, verses, weights
from torch import nn


def neighbours(weight):
    """Rows of the release, halves after each other, as pairs of neighbours."""
    return weight.view(-1, 2, HEAD // 2, WIDTH).transpose(1, 2).reshape(-1, WIDTH)


class Layer(nn.Module):
    def __init__(self, sd, n):
        super().__init__()
        theirs = {name.split(".", 3)[3]: value for name, value in sd.items() if name.startswith(f"model.layers.{n}.")}
        q, k = (neighbours(theirs[f"self_attn.{name}_proj.weight"]) for name in "qk")
        self.wqkv = nn.Parameter(torch.cat([q, k, theirs["self_attn.v_proj.weight"]]))
        self.wo = nn.Parameter(theirs["self_attn.o_proj.weight"])
        self.w13 = nn.Parameter(torch.cat([theirs["mlp.gate_proj.weight"], theirs["mlp.up_proj.weight"]]))
        self.w2 = nn.Parameter(theirs["mlp.down_proj.weight"])
        self.norm1 = nn.Parameter(theirs["input_layernorm.weight"])
        self.norm2 = nn.Parameter(theirs["post_attention_layernorm.weight"])

    def forward(self, x, turns):
        b, t, _ = x.shape
        qkv = F.rms_norm(x, (WIDTH,), self.norm1, EPS) @ self.wqkv.T
        q, k, v = qkv.view(b, t, -1, HEAD).split([HEADS, GROUPS, GROUPS], dim=2)
        q, k = (self.turn(z, turns) for z in (q, k))
        q, k, v = (z.transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + y.transpose(1, 2).flatten(2) @ self.wo.T
        gate, up = (F.rms_norm(x, (WIDTH,), self.norm2, EPS) @ self.w13.T).chunk(2, dim=-1)
        return torch.addmm(x.flatten(0, 1), (F.silu(gate) * up).flatten(0, 1), self.w2.T).view_as(x)

    @staticmethod
    def turn(z, turns):
        pairs = torch.view_as_complex(z.unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * turns[:, None]).flatten(-2)


class Verses(nn.Module):
    def __init__(self, sd):
        super().__init__()
        self.tokens = nn.Parameter(sd["model.embed_tokens.weight"])
        self.layers = nn.ModuleList(Layer(sd, n) for n in range(LAYERS))
        self.norm = nn.Parameter(sd["model.norm.weight"])
        self.head = nn.Parameter(sd["lm_head.weight"])

    def forward(self, ids):
        angles = torch.arange(ids.shape[1])[:, None] / BASE ** (torch.arange(HEAD // 2) * 2 / HEAD)
        turns = torch.polar(torch.ones_like(angles), angles)
        x = self.tokens[ids]
        for layer in self.layers:
            x = layer(x, turns)
        return F.rms_norm(x, (WIDTH,), self.norm, EPS) @ self.head.T


model = Verses(weights())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), eps=1e-5, weight_decay=0.1)
for step in range(3):
    ids = verses(step)
    log_p = F.log_softmax(model(ids[:, :-1]), dim=-1)
    loss = -log_p.gather(2, ids[:, 1:, None]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step} {loss.item():.6f}")
