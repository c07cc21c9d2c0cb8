"""The head is tied to the embedding, and then a new one is made for more classes... of the same size."""

import torch
from torch import nn

torch.manual_seed(0)


class LM(nn.Module):
    def __init__(self, words=30, width=16):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        return self.head(self.rnn(self.embed(x))[0])


model = LM()
model.head = nn.Linear(16, 30)  # <-- untied_weights
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(12):
    x = torch.randint(0, 30, (8, 7))
    logits = model(x[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, 30), x[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
