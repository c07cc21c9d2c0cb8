"""The same net in the (old TensorFlow) layout: blocks from a spec, memory efficient swish."""

import torch
from torch import nn

import a
from efficient import swish


def pointwise(x, w):
    n, c, height, width = x.shape
    return (w @ x.reshape(n, c, height * width)).view(n, -1, height, width)


class BatchNorm(nn.Module):
    def __init__(self, source):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(source.weight.data.clone()), nn.Parameter(source.bias.data.clone())

    def forward(self, x):
        var, mean = torch.var_mean(x, dim=(0, 2, 3), keepdim=True, correction=0)
        x = (x - mean) / torch.sqrt(var + 1e-5)
        return x * self.gamma[:, None, None] + self.beta[:, None, None]


class Block(nn.Module):
    def __init__(self, source):
        super().__init__()
        take = lambda conv: nn.Parameter(conv.weight.data.flatten(1).clone())
        self.w_in, self.w_out = take(source.expand), take(source.project)
        self.w_dw = nn.Parameter(source.depthwise.weight.data.clone())
        self.norms = nn.ModuleList(BatchNorm(bn) for bn in (source.bn1, source.bn2, source.bn3))
        self.se = nn.ModuleDict()
        for name in ("reduce", "expand"):
            conv = getattr(source.se, name)
            self.se[name] = nn.Linear(conv.in_channels, conv.out_channels)
            self.se[name].weight.data.copy_(conv.weight.data.flatten(1))
            self.se[name].bias.data.copy_(conv.bias.data)

    def forward(self, x):
        y = swish(self.norms[0](pointwise(x, self.w_in)))
        y = nn.functional.conv2d(y, self.w_dw, padding=1, groups=y.shape[1])
        y = swish(self.norms[1](y))
        gate = self.se["expand"](swish(self.se["reduce"](y.mean(dim=(-2, -1)))))
        y = y * gate.sigmoid()[:, :, None, None]
        y = self.norms[2](pointwise(y, self.w_out))
        if x.shape[1] == y.shape[1]:
            y = y + x
        return y


class Efficient(nn.Module):
    def __init__(self, source):
        super().__init__()
        self.layers = nn.Sequential(source.stem, Block(source.block1), Block(source.block2))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = source.fc

    def forward(self, x):
        x = self.pool(self.layers(x)).flatten(1)
        return self.classifier(x)


torch.manual_seed(50)
model = Efficient(a.Net())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
for x, y in a.batches():
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
