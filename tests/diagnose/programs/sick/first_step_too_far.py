import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 32)
        self.recurrent = nn.GRU(32, 32, batch_first=True)
        self.head = nn.Linear(32, 50)

    def forward(self, x):
        return self.head(self.recurrent(self.embedding(x))[0])


torch.manual_seed(0)
net = Tagger()
text = torch.randint(0, 50, (100, 10))
optimizer = torch.optim.RMSprop(net.parameters(), lr=0.5)  # <-- update_ratio
for step in range(30):
    rows = text[torch.randint(0, 100, (16,))]
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten()).backward()
    optimizer.step()
