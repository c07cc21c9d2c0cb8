"""Intent of an order from its words; id 0 fills up short orders."""

import torch
import torch.nn as nn


class Intent(nn.Module):
    def __init__(self, vocab=50, dim=16, intents=5):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.conv = nn.Conv1d(dim, 20, 3, padding=1)
        self.fc = nn.Linear(20, intents)

    def forward(self, ids):
        x = self.embed(ids)
        x = torch.tanh(self.conv(x.transpose(1, 2)))
        return self.fc(x.mean(dim=2))


def orders(step, n=8, t=12):
    g = torch.Generator().manual_seed(300 + step)
    ids = torch.randint(1, 50, (n, t), generator=g)
    length = torch.randint(4, t + 1, (n, 1), generator=g)
    ids[torch.arange(t) >= length] = 0
    return ids, torch.randint(0, 5, (n,), generator=g)


if __name__ == "__main__":
    torch.manual_seed(23)
    model = Intent()
    opt = torch.optim.SGD(model.parameters(), lr=0.2)
    for step in range(3):
        ids, intent = orders(step)
        loss = nn.functional.cross_entropy(model(ids), intent)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())
