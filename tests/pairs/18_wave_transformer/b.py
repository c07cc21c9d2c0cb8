"""Denoiser, one head after the other, weights translated from the module version."""

import torch
import torch.nn as nn

from a import WaveModel, noisy


def softmax_attention(q, k, v):
    return torch.softmax(q @ k.mT * q.shape[-1] ** -0.5, dim=-1) @ v


class Stage(nn.Module):
    """norm, then a sublayer, and the way around it"""

    def __init__(self, norm, sublayer):
        super().__init__()
        self.norm = norm
        self.sublayer = sublayer

    def forward(self, x):
        x = self.norm(x)
        return x + self.sublayer(x)


class Heads(nn.Module):
    def __init__(self, source):
        super().__init__()
        d, n = source.embed_dim, source.num_heads
        w = source.in_proj_weight.data.view(3, n, d // n, d)
        bias = source.in_proj_bias.data.view(3, n, d // n)
        self.n = n
        self.w = nn.Parameter(w.transpose(2, 3).clone())
        self.bias = nn.Parameter(bias.clone())
        self.merge = nn.Linear(d, d)
        self.merge.load_state_dict(source.out_proj.state_dict())

    def forward(self, x):
        outs = []
        for h in range(self.n):
            q, k, v = (x @ self.w[i, h] + self.bias[i, h] for i in range(3))
            outs.append(softmax_attention(q, k, v))
        return self.merge(torch.cat(outs, dim=2))


def port(source):
    stages = []
    for layer in source.layers:
        stages.append(Stage(layer.norm1, Heads(layer.attn)))
        stages.append(Stage(layer.norm2, nn.Sequential(layer.ff.w1, nn.ReLU(), layer.ff.w2)))
    return nn.Sequential(source.inp, *stages, source.out)


if __name__ == "__main__":
    torch.manual_seed(61)
    net = port(WaveModel())
    opt = torch.optim.Adagrad(net.parameters(), lr=0.02)
    for step in range(2):
        wave, clean = noisy(step)
        guess = net(wave.reshape(5, 12, 10))
        loss = ((guess - clean) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(loss.item())
