"""Textures without cudnn: unfold, one product, statistics by hand."""

import torch
import torch.nn.functional as F

from a import Textures, samples


def layer(x, kernel, gain, shift):
    n, c, h, w = x.shape
    columns = F.unfold(x, (3, 3), padding=(1, 1))
    y = torch.einsum("ok,nkp->onp", kernel.flatten(1), columns)
    y = y.flatten(1)
    mean = y.mean(dim=1, keepdim=True)
    centred = y - mean
    var = (centred**2).mean(dim=1, keepdim=True)
    y = gain[:, None] * centred * torch.rsqrt(var + 1e-5) + shift[:, None]
    y = y.clamp_min(0)
    return y.view(-1, n, h, w).transpose(0, 1)


def pool(x):
    n, c, h, w = x.shape
    x = x.reshape(n, c, h // 2, 2, w // 2, 2)
    return x.amax(dim=(3, 5))


class Net(torch.nn.Module):
    def __init__(self, state):
        super().__init__()
        self.kernels = torch.nn.ParameterList(state[f"layer{i}.0.weight"].clone() for i in (1, 2))
        self.gains = torch.nn.ParameterList(state[f"layer{i}.1.weight"].clone() for i in (1, 2))
        self.shifts = torch.nn.ParameterList(state[f"layer{i}.1.bias"].clone() for i in (1, 2))
        self.w = torch.nn.Parameter(state["fc.weight"].t().clone())
        self.b = torch.nn.Parameter(state["fc.bias"].clone())

    def forward(self, x):
        for weights in zip(self.kernels, self.gains, self.shifts):
            x = pool(layer(x, *weights))
        return x.flatten(2).sum(-1) / x[0, 0].numel() @ self.w + self.b


def main():
    torch.manual_seed(12)
    net = Net(Textures().state_dict())
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
    for step in range(3):
        x, y = samples(step)
        logp = net(x).log_softmax(1)
        loss = -logp[torch.arange(len(y)), y].sum() / len(y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
