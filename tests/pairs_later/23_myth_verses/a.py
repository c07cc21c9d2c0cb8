"""Verses of myths with a decoder in the layout of its release: halves of a head are turned together."""

import torch
from release import BASE, EPS, GROUPS, HEAD, HEADS, INNER, LAYERS, VOCAB, WIDTH, verses, weights
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, hidden_states):
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        return self.weight * (hidden_states * torch.rsqrt(variance + EPS))


def rotate_half(x):
    x1, x2 = x[..., : HEAD // 2], x[..., HEAD // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def repeat_kv(x):
    b, groups, t, d = x.shape
    return x[:, :, None].expand(b, groups, HEADS // GROUPS, t, d).reshape(b, HEADS, t, d)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(WIDTH, HEADS * HEAD, bias=False)
        self.k_proj = nn.Linear(WIDTH, GROUPS * HEAD, bias=False)
        self.v_proj = nn.Linear(WIDTH, GROUPS * HEAD, bias=False)
        self.o_proj = nn.Linear(HEADS * HEAD, WIDTH, bias=False)

    def forward(self, x, cos, sin, mask):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, HEADS, HEAD).transpose(1, 2)
        k = self.k_proj(x).view(b, t, GROUPS, HEAD).transpose(1, 2)
        v = self.v_proj(x).view(b, t, GROUPS, HEAD).transpose(1, 2)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        k, v = repeat_kv(k), repeat_kv(v)
        attn_weights = torch.matmul(q, k.transpose(2, 3)) * HEAD**-0.5 + mask
        attn_weights = nn.functional.softmax(attn_weights, dim=-1)
        out = torch.matmul(attn_weights, v).transpose(1, 2).reshape(b, t, -1)
        return self.o_proj(out)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj = nn.Linear(WIDTH, INNER, bias=False)
        self.up_proj = nn.Linear(WIDTH, INNER, bias=False)
        self.down_proj = nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x):
        return self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn = Attention()
        self.mlp = MLP()
        self.input_layernorm = RMSNorm()
        self.post_attention_layernorm = RMSNorm()

    def forward(self, x, cos, sin, mask):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, mask)
        return x + self.mlp(self.post_attention_layernorm(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCAB, WIDTH)
        self.layers = nn.ModuleList([DecoderLayer() for _ in range(LAYERS)])
        self.norm = RMSNorm()

    def forward(self, input_ids):
        t = input_ids.shape[1]
        inv_freq = 1.0 / (BASE ** (torch.arange(0, HEAD, 2) / HEAD))
        freqs = torch.outer(torch.arange(t).to(inv_freq.dtype), inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        x = self.embed_tokens(input_ids)
        mask = torch.full((t, t), torch.finfo(x.dtype).min).triu(1)
        for layer in self.layers:
            x = layer(x, emb.cos(), emb.sin(), mask)
        return self.norm(x)


class CausalLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = Model()
        self.lm_head = nn.Linear(WIDTH, VOCAB, bias=False)

    def forward(self, input_ids, labels):
        logits = self.lm_head(self.model(input_ids))
        return nn.functional.cross_entropy(logits[:, :-1].reshape(-1, VOCAB), labels[:, 1:].reshape(-1))


model = CausalLM()
model.load_state_dict(weights())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), eps=1e-5, weight_decay=0.1)
for step in range(3):
    ids = verses(step)
    loss = model(ids, ids)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step} {loss.item():.6f}")
