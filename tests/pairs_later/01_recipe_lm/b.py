"""The recipe model in a few lines, from the same release."""

import torch
import torch.nn as nn
from checkpoint import HEADS, LAYERS, PLACES, VOCAB, WIDTH, batches, weights
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(WIDTH)
        self.c_attn = nn.Linear(WIDTH, 3 * WIDTH)
        self.c_proj = nn.Linear(WIDTH, WIDTH)
        self.ln_2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(self.ln_1(x)).split(C, dim=2)
        q, k, v = (z.view(B, T, HEADS, C // HEADS).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))
        return x + self.mlp(self.ln_2(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(VOCAB, WIDTH)
        self.wpe = nn.Embedding(PLACES + 2, WIDTH)
        self.h = nn.ModuleList(Block() for _ in range(LAYERS))
        self.ln_f = nn.LayerNorm(WIDTH)
        self.lm_head = nn.Linear(WIDTH, VOCAB, bias=False)
        self.wte.weight = self.lm_head.weight

    def forward(self, idx, targets):
        pos = torch.arange(idx.size(1))
        tok_emb = self.wte(idx)
        pos_emb = self.wpe(pos)
        x = tok_emb + pos_emb
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return F.cross_entropy(logits.view(-1, VOCAB), targets.reshape(-1))

    @classmethod
    def from_release(cls):
        model, sd = cls(), weights()
        own = {"wte.weight": sd["decoder.embed_tokens.weight"], "wpe.weight": sd["decoder.embed_positions.weight"]}
        own["lm_head.weight"] = own["wte.weight"]
        names = {"self_attn_layer_norm": "ln_1", "self_attn.out_proj": "c_proj", "final_layer_norm": "ln_2"}
        names |= {"fc1": "mlp.0", "fc2": "mlp.2"}
        for kind in ("weight", "bias"):
            own[f"ln_f.{kind}"] = sd[f"decoder.final_layer_norm.{kind}"]
            for n in range(LAYERS):
                theirs = f"decoder.layers.{n}"
                for old, new in names.items():
                    own[f"h.{n}.{new}.{kind}"] = sd[f"{theirs}.{old}.{kind}"]
                qkv = [sd[f"{theirs}.self_attn.{p}_proj.{kind}"] for p in "qkv"]
                own[f"h.{n}.c_attn.{kind}"] = torch.cat(qkv)
        model.load_state_dict(own)
        return model


model = Model.from_release()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
for tokens in batches(3):
    loss = model(tokens[:, :-1], tokens[:, 1:])
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.4f}")
