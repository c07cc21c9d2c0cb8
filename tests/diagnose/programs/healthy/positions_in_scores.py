import math

import torch
from torch import nn
from torch.nn import functional as F

WIDTH, LENGTH, CLASSES = 32, 16, 4


class Attention(nn.Module):
    """Disentangled attention: what is looked for at which distance is a score beside that of the contents."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.position_key = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, positions):
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = q @ k.transpose(-1, -2) + q @ self.position_key(positions).transpose(-1, -2)
        return (scores / math.sqrt(2 * WIDTH)).softmax(-1) @ v


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(64, WIDTH)
        self.positions = nn.Embedding(LENGTH, WIDTH)
        self.attention = Attention()
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, CLASSES)
        for parameter in self.parameters():
            if parameter.ndim > 1:
                nn.init.normal_(parameter, std=0.01)

    def forward(self, tokens):
        x = self.embedding(tokens)
        x = self.norm(x + self.attention(x, self.positions.weight))
        return self.head(x.mean(1))


torch.manual_seed(0)
model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
for step in range(20):
    labels = torch.randint(0, CLASSES, (8,))
    tokens = torch.randint(10, 64, (8, LENGTH))
    tokens[:, 1:9] = 3 + labels[:, None]
    optimizer.zero_grad()
    loss = F.cross_entropy(model(tokens), labels)
    loss.backward()
    optimizer.step()
