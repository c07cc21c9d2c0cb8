"""The same decoder in the layout of the hub: rotate_half, gate_up in one matrix."""

import torch
from torch import nn

import a


class Rotary(nn.Module):
    def __init__(self, dim, base=1000.0):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / base ** (torch.arange(0, dim, 2).float() / dim), persistent=False)

    def forward(self, length):
        angles = torch.arange(length).float()[:, None] * self.inv_freq[None, :]
        emb = torch.cat((angles, angles), dim=-1)
        return emb.cos(), emb.sin()


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary_pos_emb(q, k, cos, sin):
    q_embed = (q * cos) + (rotate_half(q) * sin)
    k_embed = (k * cos) + (rotate_half(k) * sin)
    return q_embed, k_embed


class DecoderLayer(nn.Module):
    def __init__(self, source):
        super().__init__()
        data = lambda name: getattr(source, name).weight.data
        self.heads = source.heads
        self.qkv_proj = nn.Parameter(torch.cat([data("wq"), data("wk"), data("wv")]))
        self.o_proj = nn.Parameter(data("wo").clone())
        self.gate_up = nn.Parameter(torch.cat([data("w1"), data("w3")]))
        self.down = nn.Parameter(data("w2").clone())
        self.input_norm = nn.Parameter(data("n1").clone())
        self.post_norm = nn.Parameter(data("n2").clone())

    def forward(self, x, cos, sin, mask):
        b, t, d = x.shape
        qkv = norm(x, self.input_norm) @ self.qkv_proj.T
        q, k, v = qkv.view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        q, k = apply_rotary_pos_emb(q, k, cos, sin)
        scores = q @ k.transpose(2, 3) / (d // self.heads) ** 0.5 + mask
        out = scores.softmax(-1) @ v
        x = x + out.transpose(1, 2).reshape(b, t, d) @ self.o_proj.T
        gate, up = (norm(x, self.post_norm) @ self.gate_up.T).chunk(2, dim=-1)
        return x + (gate * torch.sigmoid(gate) * up) @ self.down.T


def norm(x, weight, eps=1e-6):
    return weight * (x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps))


class Decoder(nn.Module):
    def __init__(self, source):
        super().__init__()
        self.embed_tokens = source.tok
        self.layers = nn.ModuleList(DecoderLayer(b) for b in source.blocks)
        self.norm = source.norm.weight
        self.lm_head = source.out
        self.rotary = Rotary(8)

    def forward(self, ids):
        x = self.embed_tokens(ids)
        cos, sin = self.rotary(ids.shape[1])
        mask = torch.full((ids.shape[1],) * 2, float("-inf")).triu(1)
        for layer in self.layers:
            x = layer(x, cos, sin, mask)
        return self.lm_head(norm(x, self.norm))


def main():
    torch.manual_seed(70)
    model = Decoder(a.Notes())
    opt = torch.optim.SGD(model.parameters(), lr=0.2)
    for step in range(2):
        tokens = a.batch(step)
        logp = model(tokens[:, :-1]).log_softmax(-1)
        loss = -logp.gather(2, tokens[:, 1:, None]).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(loss.item())


if __name__ == "__main__":
    main()
