"""The loss as the paper writes it: a sum over anchors; the net runs once on both crops, voice by voice."""

import torch
import torch.nn.functional as F

import a


class PerVoice(torch.nn.Module):
    def __init__(self, source):
        super().__init__()
        self.net = torch.nn.ModuleDict({"frame": source.frame, "attend": source.attend, "out": source.out})

    def one(self, frames):
        h = self.net["frame"](frames)
        h = torch.maximum(h, 0.2 * h)
        w = torch.softmax(h @ self.net["attend"].weight[0], dim=0)
        mean = w @ h
        square = torch.einsum("t,td->d", w, h * h)
        std = torch.sqrt(torch.clamp(square - mean * mean, min=1e-4))
        w_mean, w_std = self.net["out"].weight.split(24, dim=1)
        return w_mean @ mean + w_std @ std + self.net["out"].bias

    def forward(self, batch):
        return [self.one(frames) for frames in batch]


def anchor_loss(codes, i, j, temperature=0.2):
    sims = [codes[i].dot(codes[k]) / temperature for k in range(len(codes)) if k != i]
    return torch.logsumexp(torch.stack(sims), dim=0) - codes[i].dot(codes[j]) / temperature


def total_loss(codes):
    codes = [c / c.norm() for c in codes]
    n = len(codes) // 2
    losses = [anchor_loss(codes, i, (i + n) % (2 * n)) for i in range(2 * n)]
    return sum(losses) / len(losses)


def main():
    torch.manual_seed(29)
    model = PerVoice(a.VoiceNet())
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        crops = torch.cat(a.voices(step))
        loss = total_loss(model(crops))
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
