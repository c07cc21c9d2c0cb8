"""The decoder after the lecture: one Head module per head. Weights are taken from the nano version."""

import torch
import torch.nn as nn
from torch.nn import functional as F

import blocks

n_embd, n_head, n_layer, block_size = 32, 4, 2, 24
text = "the quick brown fox jumps over the lazy dog while five wizards box. " * 6
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])


class Head(nn.Module):
    """one head of self-attention"""

    def __init__(self, head_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))

    def forward(self, x):
        B, T, C = x.shape
        k = self.key(x)
        q = self.query(x)
        wei = q @ k.transpose(-2, -1) * C**-0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        return wei @ self.value(x)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([Head(n_embd // n_head) for _ in range(n_head)])
        self.proj = nn.Linear(n_embd, n_embd, bias=False)
        self.ffwd = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd))
        self.ln1 = nn.LayerNorm(n_embd)
        self.ln2 = nn.LayerNorm(n_embd)

    def forward(self, x):
        h = self.ln1(x)
        x = x + self.proj(torch.cat([head(h) for head in self.heads], dim=-1))
        x = x + self.ffwd(self.ln2(x))
        return x


class LanguageModel(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.token_embedding_table = nn.Embedding(vocab, n_embd)
        self.position_embedding_table = nn.Embedding(block_size, n_embd)
        self.blocks = nn.Sequential(*[Block() for _ in range(n_layer)])
        self.ln_f = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, vocab, bias=False)

    def forward(self, idx, targets):
        B, T = idx.shape
        x = self.token_embedding_table(idx) + self.position_embedding_table(torch.arange(T))
        logits = self.lm_head(self.ln_f(self.blocks(x)))
        return F.cross_entropy(logits.reshape(B * T, -1), targets.reshape(B * T))


@torch.no_grad()
def take(model, other):
    model.token_embedding_table.weight.copy_(other.wte.weight)
    model.position_embedding_table.weight.copy_(other.wpe.weight)
    model.lm_head.weight.copy_(other.lm_head.weight)
    for mine, theirs in zip(model.blocks, other.h):
        q, k, v = theirs.attn.c_attn.weight.split(n_embd)
        size = n_embd // n_head
        for i, head in enumerate(mine.heads):
            rows = slice(i * size, (i + 1) * size)
            head.query.weight.copy_(q[rows])
            head.key.weight.copy_(k[rows])
            head.value.weight.copy_(v[rows])
        mine.proj.load_state_dict(theirs.attn.c_proj.state_dict())
        mine.ffwd[0].load_state_dict(theirs.fc.state_dict())
        mine.ffwd[2].load_state_dict(theirs.proj.state_dict())


torch.manual_seed(1337)
nano = blocks.CharGPT(len(chars), n_embd, n_head, n_layer, block_size)
model = LanguageModel(len(chars))
take(model, nano)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for it in range(2):
    g = torch.Generator().manual_seed(it)
    ix = torch.randint(0, len(data) - block_size - 1, (6,), generator=g)
    xb = torch.stack([data[i : i + block_size] for i in ix])
    yb = torch.stack([data[i + 1 : i + block_size + 1] for i in ix])
    loss = model(xb, yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(it, loss.item())
