import torch
import torch.nn as nn
import torch.nn.functional as F

LINES = ["an old silent pond", "a frog jumps into the pond", "splash silence again", "autumn moonlight", "a worm digs silently"]
LETTERS = sorted(set("".join(LINES))) + ["\n"]


# letters in, letters out
class Haiku(nn.Module):
    def __init__(self, vocab, dim=24):
        super().__init__()
        self.encoder = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.decoder = nn.Linear(dim, vocab)
        nn.init.normal_(self.encoder.weight, std=0.1)
        self.decoder.weight.data.copy_(self.encoder.weight.data)

    def forward(self, ids):
        x = self.encoder(ids)
        h, _ = self.rnn(x)
        return self.decoder(h)


def windows(step, n=8, t=16):
    text = torch.tensor([LETTERS.index(c) for c in "\n".join(LINES)])
    g = torch.Generator().manual_seed(step)
    at = torch.randint(0, len(text) - t, (n,), generator=g)
    return text[at[:, None] + torch.arange(t)]


def main():
    torch.manual_seed(19)
    model = Haiku(len(LETTERS))
    opt = torch.optim.SGD(model.parameters(), lr=0.5)
    for step in range(3):
        ids = windows(step)
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
