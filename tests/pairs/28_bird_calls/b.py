"""Bird calls, with the smoothed loss of the translation toolkit."""

import torch
from torch import nn

from a import Calls, calls


class SmoothedLoss(nn.Module):
    def __init__(self, classes, smoothing=0.2):
        super().__init__()
        self.confidence = 1.0 - smoothing
        self.rest = smoothing / (classes - 1)

    def forward(self, logits, target):
        logp = torch.log_softmax(logits, dim=-1)
        wanted = torch.full_like(logp, self.rest)
        wanted.scatter_(1, target[:, None], self.confidence)
        return -(wanted * logp).sum(dim=1).mean()


class Frames(nn.Module):
    """A strided convolution as a product with overlapping frames, then batch norm and relu."""

    def __init__(self, conv, bn):
        super().__init__()
        self.size, self.stride, self.pad = conv.kernel_size[0], conv.stride[0], conv.padding[0]
        self.w = nn.Parameter(conv.weight.detach().flatten(1).t().clone())
        self.b = nn.Parameter(conv.bias.detach().clone())
        self.bn = bn

    def forward(self, x):
        frames = nn.functional.pad(x, (self.pad, self.pad)).unfold(2, self.size, self.stride)
        y = frames.permute(0, 2, 1, 3).flatten(2) @ self.w + self.b
        n, t, c = y.shape
        y = self.bn(y.reshape(n * t, c)).view(n, t, c)
        return y.relu().transpose(1, 2)


class Port(nn.Module):
    def __init__(self, source):
        super().__init__()
        f = source.features
        self.first, self.second = Frames(f[0], f[1]), Frames(f[3], f[4])
        self.head = source.classifier

    def forward(self, wave):
        y = self.second(self.first(wave))
        return self.head(y.mean(-1))


def main():
    torch.manual_seed(71)
    net = Port(Calls())
    loss_fn = SmoothedLoss(8)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(2):
        wave, species = calls(step)
        loss = loss_fn(net(wave), species)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
