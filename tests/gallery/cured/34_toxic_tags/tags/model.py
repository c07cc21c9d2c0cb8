from torch import nn


class Head(nn.Module):
    def __init__(self, dim, tags):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(dim, dim),
            nn.ReLU(),
            nn.Linear(dim, tags),
        )

    def forward(self, x):
        return self.net(x)


class TagModel(nn.Module):
    def __init__(self, vocab, dim, tags):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocab, dim, mode="sum")
        self.head = Head(dim, tags)

    def forward(self, ids):
        return self.head(self.bag(ids))
