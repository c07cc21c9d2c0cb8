"""Port of the sentence encoder: no nested modules, fused projections, own layer norm."""

import torch
from torch import nn

from weights import batch, checkpoint


class Norm(nn.Module):
    def __init__(self, gain, shift, eps=1e-5):
        super().__init__()
        self.gain = nn.Parameter(gain)
        self.shift = nn.Parameter(shift)
        self.eps = eps

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        var = centred.square().mean(-1, keepdim=True)
        return centred * torch.rsqrt(var + self.eps) * self.gain + self.shift


class Encoder(nn.Module):
    def __init__(self, state, heads=4):
        super().__init__()
        self.heads = heads
        p = lambda name: nn.Parameter(state[name].clone())
        self.words = p("embeddings.word_embeddings.weight")
        self.places = p("embeddings.position_embeddings.weight")
        self.kinds = p("embeddings.token_type_embeddings.weight")
        att = "encoder.attention."
        names = ("query", "key", "value")
        self.w_qkv = nn.Parameter(torch.cat([state[f"{att}{n}.weight"] for n in names]).t().contiguous())
        self.b_qkv = nn.Parameter(torch.cat([state[f"{att}{n}.bias"] for n in names]))
        self.w_out, self.b_out = p(att + "output.weight"), p(att + "output.bias")
        self.w1, self.b1 = p("encoder.intermediate.weight"), p("encoder.intermediate.bias")
        self.w2, self.b2 = p("encoder.output.weight"), p("encoder.output.bias")
        self.w_pool, self.b_pool = p("pooler.dense.weight"), p("pooler.dense.bias")
        self.norms = nn.ModuleList(
            Norm(state[f"{n}.weight"].clone(), state[f"{n}.bias"].clone())
            for n in ("embeddings.LayerNorm", att + "LayerNorm", "encoder.LayerNorm")
        )

    def forward(self, ids, kinds):
        b, t = ids.shape
        x = self.words[ids] + self.kinds[kinds] + self.places[:t]
        x = self.norms[0](x)
        qkv = x @ self.w_qkv + self.b_qkv
        q, k, v = qkv.view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v)
        mixed = mixed.permute(0, 2, 1, 3).flatten(2)
        x = self.norms[1](mixed @ self.w_out.t() + self.b_out + x)
        h = nn.functional.gelu(x @ self.w1.t() + self.b1)
        x = self.norms[2](h @ self.w2.t() + self.b2 + x)
        return torch.tanh(x[:, 0] @ self.w_pool.t() + self.b_pool)


def main():
    net = Encoder(checkpoint())
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    for step in range(2):
        ids, kinds, target = batch(step)
        loss = (net(ids, kinds) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("loss", step, loss.item())


if __name__ == "__main__":
    main()
