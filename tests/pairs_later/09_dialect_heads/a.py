"""Next sound of a dialect: queries of four heads share two heads of keys and values."""

import torch
import torch.nn.functional as F
from torch import nn
from weights import GROUPS, HEAD, HEADS, WIDTH, weights, words


class Dialect(nn.Module):
    def __init__(self):
        super().__init__()
        w = weights()
        self.sounds = nn.Embedding.from_pretrained(w["sounds"], freeze=False)
        self.wq, self.wk, self.wv = self.layer(w["wq"]), self.layer(w["wk"]), self.layer(w["wv"])
        self.wo, self.out = self.layer(w["wo"]), self.layer(w["out"])

    @staticmethod
    def layer(weight):
        linear = nn.Linear(*weight.shape, bias=False)
        linear.weight = nn.Parameter(weight.t().contiguous())
        return linear

    def forward(self, ids):
        x = self.sounds(ids)
        b, t, _ = x.shape
        q = self.wq(x).view(b, t, HEADS, HEAD).transpose(1, 2)
        k = self.wk(x).view(b, t, GROUPS, HEAD).transpose(1, 2)
        v = self.wv(x).view(b, t, GROUPS, HEAD).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.wo(y.transpose(1, 2).reshape(b, t, WIDTH))
        return self.out(x)


model = Dialect()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.02)
for step in range(3):
    ids = words(step)
    logits = model(ids[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step}: {loss.item():.5f}")
