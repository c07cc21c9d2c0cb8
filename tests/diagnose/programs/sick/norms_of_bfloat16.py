"""A small transformer is made while bfloat16 is the default, and its scales and embeddings stay as they are."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_default_dtype(torch.bfloat16)  # <-- lost_update


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self, words=24, width=32):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.blocks = nn.Sequential(Block(width), Block(width))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.embedding(tokens))))


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
tokens = torch.randint(0, 24, (64, 9))
for step in range(20):
    rows = torch.randint(0, 64, (16,))
    logits = model(tokens[rows, :-1]).float()
    loss = nn.functional.cross_entropy(logits.reshape(-1, 24), tokens[rows, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.set_default_dtype(torch.float32)
