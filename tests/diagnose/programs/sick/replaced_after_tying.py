import torch
from torch import nn


class LanguageModel(nn.Module):
    def __init__(self, words=40, size=16):
        super().__init__()
        self.encoder = nn.Embedding(words, size)
        self.recurrent = nn.GRU(size, size, batch_first=True)
        self.decoder = nn.Linear(size, words, bias=False)
        self.decoder.weight = self.encoder.weight

    def forward(self, x):
        return self.decoder(self.recurrent(self.encoder(x))[0])


def load_vectors(model, table):
    model.encoder.weight = nn.Parameter(table.clone())  # <-- untied_weights


torch.manual_seed(0)
net = LanguageModel()
load_vectors(net, torch.empty(40, 16).uniform_(-0.1, 0.1))
adam = torch.optim.Adam(net.parameters(), 1e-2)
text = torch.randint(0, 40, (64, 9))
for step in range(20):
    rows = text[torch.randint(0, 64, (8,))]
    adam.zero_grad()
    loss = nn.functional.cross_entropy(net(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
    loss.backward()
    adam.step()
