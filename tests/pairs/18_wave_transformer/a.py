import torch
import torch.nn as nn


class FeedForward(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden)
        self.w2 = nn.Linear(hidden, dim)

    def forward(self, x):
        return self.w2(torch.relu(self.w1(x)))


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm2 = nn.LayerNorm(dim)
        self.ff = FeedForward(dim, 2 * dim)

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        y = self.norm2(x)
        x = x + self.ff(y)
        return x


class WaveModel(nn.Module):
    def __init__(self, frame=10, dim=20, heads=2, depth=2):
        super().__init__()
        self.frame = frame
        self.inp = nn.Linear(frame, dim)
        self.layers = nn.ModuleList(Layer(dim, heads) for _ in range(depth))
        self.out = nn.Linear(dim, frame)

    def forward(self, wave):
        frames = wave.unfold(1, self.frame, self.frame)
        x = self.inp(frames)
        for layer in self.layers:
            x = layer(x)
        return self.out(x)


def noisy(step):
    g = torch.Generator().manual_seed(200 + step)
    t = torch.arange(120) / 120
    f = torch.rand(5, 1, generator=g) * 8 + 1
    clean = torch.sin(6.2832 * f * t)
    return clean + 0.3 * torch.randn(5, 120, generator=g), clean.unfold(1, 10, 10)


if __name__ == "__main__":
    torch.manual_seed(61)
    model = WaveModel()
    opt = torch.optim.Adagrad(model.parameters(), lr=0.02)
    for step in range(2):
        wave, clean = noisy(step)
        loss = nn.functional.mse_loss(model(wave), clean)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(loss.item())
