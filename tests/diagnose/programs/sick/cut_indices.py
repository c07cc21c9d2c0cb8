import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Selector(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(12, 12)
        self.out = nn.Linear(4, 3)

    def forward(self, x):
        chosen = self.score(x).topk(4, dim=-1).indices  # <-- missing
        return self.out(x.gather(1, chosen))


model = Selector()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    x, y = torch.randn(16, 12), torch.randint(0, 3, (16,))
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
