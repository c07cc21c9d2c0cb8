from torch import nn


class DialectModel(nn.Module):
    def __init__(self, columns, width, classes):
        super().__init__()
        self.encoder = self.build_encoder(columns, width)
        self.norm = nn.LayerNorm(width)
        self.heads = {name: nn.Linear(width, n) for name, n in classes.items()}

    def build_encoder(self, columns, width):
        raise NotImplementedError

    def encode(self, x):
        raise NotImplementedError

    def forward(self, x, dialect):
        return self.heads[dialect](self.norm(self.encode(x)))
