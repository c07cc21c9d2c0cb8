"""GRU language model with shared input and output embedding."""
import torch
from torch import nn


class TiedGRU(nn.Module):
    def __init__(self, vocab=25, dim=40):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab, bias=False)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.out.weight = self.embed.weight

    def forward(self, ids):
        h, _ = self.gru(self.embed(ids))
        return self.out(h)


def chain(n, length, vocab=25):
    ids = [torch.randint(0, vocab, (n,))]
    for _ in range(length):
        ids.append((ids[-1] * 2 + torch.randint(1, 3, (n,))) % vocab)
    ids = torch.stack(ids, 1)
    return ids[:, :-1], ids[:, 1:]


def train():
    torch.manual_seed(4)
    model = TiedGRU()
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
    for epoch in range(5):
        total = 0.0
        for _ in range(16):
            x, y = chain(32, 10)
            loss = nn.functional.cross_entropy(model(x).transpose(1, 2), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        sched.step()
        print(f"epoch {epoch} perplexity {torch.tensor(total / 16).exp():.2f}")


train()
