from torch import nn


def init_weights(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_normal_(module.weight, gain=5 / 3)
        nn.init.zeros_(module.bias)


class PlainNet(nn.Module):
    def __init__(self, columns, width, depth):
        super().__init__()
        layers, size = [], columns
        for _ in range(depth):
            layers += [nn.Linear(size, width), nn.Tanh()]
            size = width
        self.body = nn.Sequential(*layers)
        self.out = nn.Linear(width, 1)
        self.apply(init_weights)

    def forward(self, x):
        return self.out(self.body(x)).squeeze(-1)
