import random

import torch
from torch import nn

from groups import two_speeds


class Tagger(nn.Module):
    def __init__(self, words, topics, dim=12):
        super().__init__()
        self.embed = nn.EmbeddingBag(words, dim, mode="mean")
        self.dense = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, topics)

    def forward(self, ids):
        return self.head(self.norm(torch.tanh(self.dense(self.embed(ids)))))


def make_text(topic, words, topics):
    own = [w for w in range(words) if w % topics == topic]
    return [random.choice(own) if random.random() < 0.35 else random.randrange(words) for _ in range(24)]


def main(words=400, topics=8):
    random.seed(1)
    torch.manual_seed(1)
    model = Tagger(words, topics)
    optimizer = torch.optim.AdamW(two_speeds(model, slow=2e-2, fast=3e-2), weight_decay=0.0)
    loss_fn = nn.CrossEntropyLoss()
    for step in range(80):
        topic = [random.randrange(topics) for _ in range(48)]
        ids = torch.tensor([make_text(t, words, topics) for t in topic])
        target = torch.tensor(topic)
        out = model(ids)
        loss = loss_fn(out, target)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 10 == 9:
            acc = (out.argmax(-1) == target).float().mean().item()
            print(f"step {step + 1} loss {loss.item():.3f} acc {acc:.2f}")


main()
