import math

import torch
from torch import nn
from torch.nn import functional as F
from transformers import GPT2Config, GPT2LMHeadModel


class Gelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        t = torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
        slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)
        return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads, eps):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=eps), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        h = Gelu.apply(self.up(self.norm2(x)))
        return x + self.down(h)


class GPT(nn.Module):
    def __init__(self, vocabulary=50257, positions=1024, width=768, layers=12, heads=12):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        eps = [1e-5] * layers
        self.blocks = nn.ModuleList([Block(width, heads, eps[layer]) for layer in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.tokens.weight.T


NAMES = {
    "norm1": "ln_1",
    "norm2": "ln_2",
    "attention.qkv": "attn.c_attn",
    "attention.out": "attn.c_proj",
    "up": "mlp.c_fc",
    "down": "mlp.c_proj",
}


@torch.no_grad()
def load(model, state):
    model.tokens.weight.copy_(state["wte.weight"])
    model.positions.weight.copy_(state["wpe.weight"])
    for number, block in enumerate(model.blocks):
        for ours, theirs in NAMES.items():
            module, weight = block.get_submodule(ours), state[f"h.{number}.{theirs}.weight"]
            module.weight.copy_(weight.T if weight.ndim == 2 else weight)
            module.bias.copy_(state[f"h.{number}.{theirs}.bias"])
    model.norm.weight.copy_(state["ln_f.weight"])
    model.norm.bias.copy_(state["ln_f.bias"])


torch.manual_seed(0)
theirs = GPT2LMHeadModel(GPT2Config())
tokens = torch.randint(0, 50257, (2, 64))
model = GPT()
load(model, theirs.transformer.state_dict())
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
logits = model(tokens)
loss = F.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), tokens[:, 1:].reshape(-1))
loss.backward()
optimizer.step()
