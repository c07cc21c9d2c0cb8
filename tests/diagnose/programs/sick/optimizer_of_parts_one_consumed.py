"""Encoder and decoder are registered in a table of generators that a summary goes through before the optimizer does."""

import torch
from torch import nn

torch.manual_seed(1)


class Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 16)
        self.encoder = nn.GRU(16, 16, batch_first=True)
        self.out = nn.Linear(16, 20)

    def groups(self):
        body = (p for module in (self.embedding, self.encoder) for p in module.parameters())
        return {"body": body, "out": self.out.parameters()}

    def forward(self, tokens):
        states, _ = self.encoder(self.embedding(tokens))
        return self.out(states)


def frozen(parameters):
    return not any(p.requires_grad for p in parameters)


def build(model, lr):
    groups = model.groups()
    largest = max(p.numel() for p in groups["body"])
    print("largest:", largest, "frozen:", frozen(model.parameters()))
    wanted = [{"params": each, "lr": lr * (0.1 if name == "body" else 1)} for name, each in groups.items()]
    return torch.optim.Adam(wanted)  # <-- not_in_optimizer


model = Seq()
optimizer = build(model, 1e-2)
for _ in range(12):
    tokens = torch.randint(0, 20, (8, 9))
    logits = model(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, 20), tokens[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
