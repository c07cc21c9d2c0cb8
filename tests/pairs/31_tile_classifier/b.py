"""Tiles, in the style of the other library: patches by reshape, one qkv, einsum."""

import torch
import torch.nn.functional as F
from torch import nn

from a import TileViT, tiles


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.to_qkv = nn.Linear(dim, dim * 3)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = (y.unflatten(2, (self.heads, -1)) for y in (q, k, v))
        dots = torch.einsum("bihd,bjhd->bhij", q * self.scale, k)
        attn = dots.softmax(dim=-1)
        out = torch.einsum("bhij,bjhd->bihd", attn, v)
        return self.to_out(out.flatten(2))


class PreNorm(nn.Module):
    def __init__(self, dim, fn):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(dim))
        self.beta = nn.Parameter(torch.zeros(dim))
        self.fn = fn

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        var = ((x - mean) ** 2).mean(dim=-1, keepdim=True)
        normed = (x - mean) / torch.sqrt(var + 1e-5) * self.gamma + self.beta
        return self.fn(normed) if self.fn is not None else normed


class FeedForward(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1, self.b1 = nn.Parameter(torch.empty(dim, hidden)), nn.Parameter(torch.empty(hidden))
        self.w2, self.b2 = nn.Parameter(torch.empty(hidden, dim)), nn.Parameter(torch.empty(dim))

    def forward(self, x):
        h = x @ self.w1 + self.b1
        h = 0.5 * h * (1.0 + torch.erf(h * 0.5**0.5))
        return h @ self.w2 + self.b2


class ViT(nn.Module):
    def __init__(self, patch=4, dim=24, heads=3, depth=2, classes=4):
        super().__init__()
        self.patch = patch
        self.to_patch = nn.Linear(3 * patch * patch, dim)
        self.cls = nn.Parameter(torch.zeros(dim))
        self.pos = nn.Parameter(torch.zeros(17, dim))
        self.layers = nn.ModuleList()
        for _ in range(depth):
            self.layers.append(PreNorm(dim, Attention(dim, heads)))
            self.layers.append(PreNorm(dim, FeedForward(dim, 2 * dim)))
        self.final = PreNorm(dim, None)
        self.mlp_head = nn.Linear(dim, classes)

    def forward(self, image):
        n, c, h, w = image.shape
        p = self.patch
        x = image.reshape(n, c, h // p, p, w // p, p).permute(0, 2, 4, 1, 3, 5)
        x = self.to_patch(x.reshape(n, -1, c * p * p)) + self.pos[1:]
        first = (self.cls + self.pos[0]).repeat(n, 1, 1)
        x = torch.cat((first, x), dim=1)
        for layer in self.layers:
            x = layer(x) + x
        return self.mlp_head(self.final(x[:, 0]))


@torch.no_grad()
def load(model, old):
    model.to_patch.weight.copy_(old["conv_proj.weight"].flatten(1))
    model.to_patch.bias.copy_(old["conv_proj.bias"])
    model.cls.copy_(old["class_token"].flatten())
    model.pos.copy_(old["pos_embedding"][0])
    for i in range(2):
        attn, ff = model.layers[2 * i], model.layers[2 * i + 1]
        name = f"layers.{i}."
        attn.fn.to_qkv.weight.copy_(old[name + "self_attention.in_proj_weight"])
        attn.fn.to_qkv.bias.copy_(old[name + "self_attention.in_proj_bias"])
        attn.fn.to_out.weight.copy_(old[name + "self_attention.out_proj.weight"])
        attn.fn.to_out.bias.copy_(old[name + "self_attention.out_proj.bias"])
        for mine, theirs in ((ff.fn.w1, "mlp.0.weight"), (ff.fn.w2, "mlp.2.weight")):
            mine.copy_(old[name + theirs].t())
        ff.fn.b1.copy_(old[name + "mlp.0.bias"])
        ff.fn.b2.copy_(old[name + "mlp.2.bias"])
    model.mlp_head.weight.copy_(old["head.weight"])
    model.mlp_head.bias.copy_(old["head.bias"])


if __name__ == "__main__":
    torch.manual_seed(15)
    model = ViT()
    torch.manual_seed(15)
    load(model, TileViT().state_dict())
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step in range(3):
        x, y = tiles(step)
        logp = F.log_softmax(model(x), dim=-1)
        loss = -logp.gather(1, y.unsqueeze(1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())
