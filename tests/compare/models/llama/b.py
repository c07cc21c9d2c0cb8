import torch
from torch import nn
from torch.nn import functional as F
from transformers import LlamaConfig, LlamaForCausalLM


class RMSNorm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


def rotated(x):
    half = x.shape[-1] // 2
    frequency = 10000.0 ** (-torch.arange(half) / half)
    angle = torch.outer(torch.arange(x.shape[-2]), frequency)
    cos, sin = angle.cos(), angle.sin()
    one, two = x[..., :half], x[..., half:]
    return torch.cat((one * cos - two * sin, two * cos + one * sin), -1)


class Attention(nn.Module):
    def __init__(self, width, heads, groups):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.q = nn.Linear(width, heads * self.size, bias=False)
        self.k = nn.Linear(width, groups * self.size, bias=False)
        self.v = nn.Linear(width, groups * self.size, bias=False)
        self.o = nn.Linear(width, width, bias=False)

    def split(self, x, heads):
        return x.view(*x.shape[:2], heads, self.size).transpose(1, 2)

    def forward(self, x):
        q, k, v = (
            self.split(self.q(x), self.heads),
            self.split(self.k(x), self.groups),
            self.split(self.v(x), self.groups),
        )
        q, k = rotated(q), rotated(k)
        k = k.repeat_interleave(self.heads // self.groups, 1)
        v = v.repeat_interleave(self.heads // self.groups, 1)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(out.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, width, inner, heads, groups):
        super().__init__()
        self.before, self.behind = RMSNorm(width, 1e-6), RMSNorm(width, 1e-6)
        self.attention = Attention(width, heads, groups)
        self.gate, self.up = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        x = x + self.attention(self.before(x))
        h = self.behind(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(60, 32)
        self.blocks = nn.ModuleList([Block(32, 64, 4, 2) for _ in range(2)])
        self.norm, self.head = RMSNorm(32, 1e-6), nn.Linear(32, 60, bias=False)

    def forward(self, tokens):
        x = self.tokens(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


NAMES = {
    "model.embed_tokens": "tokens",
    "model.layers": "blocks",
    "self_attn.q_proj": "attention.q",
    "self_attn.k_proj": "attention.k",
    "self_attn.v_proj": "attention.v",
    "self_attn.o_proj": "attention.o",
    "mlp.gate_proj": "gate",
    "mlp.up_proj": "up",
    "mlp.down_proj": "down",
    "post_attention_layernorm": "behind",
    "input_layernorm": "before",
    "model.norm": "norm",
    "lm_head": "head",
}


def renamed(name):
    for theirs, ours in NAMES.items():
        name = name.replace(theirs, ours)
    return name


torch.manual_seed(0)
theirs = LlamaForCausalLM(
    LlamaConfig(
        vocab_size=60,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=64,
        max_position_embeddings=32,
    )
)
tokens = torch.randint(0, 60, (3, 12))
model = Llama()
model.load_state_dict({renamed(name): value for name, value in theirs.state_dict().items()})
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(2):
    optimizer.zero_grad()
    logits = model(tokens)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    optimizer.step()
