"""Discs on a noisy ground: an encoder and decoder with skip connections, and two losses added up."""

import torch
from torch import nn

torch.manual_seed(9)
SIZE = 24


def scenes(count):
    rows, columns = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    centre = torch.randint(6, SIZE - 6, (count, 2, 1, 1))
    radius = torch.randint(3, 6, (count, 1, 1))
    masks = ((rows - centre[:, 0]) ** 2 + (columns - centre[:, 1]) ** 2 <= radius**2).float().unsqueeze(1)
    return masks + 0.4 * torch.randn(count, 1, SIZE, SIZE), masks


def double(inside, outside):
    return nn.Sequential(
        nn.Conv2d(inside, outside, 3, padding=1),
        nn.GroupNorm(4, outside),
        nn.ReLU(inplace=True),
        nn.Conv2d(outside, outside, 3, padding=1),
        nn.GroupNorm(4, outside),
        nn.ReLU(inplace=True),
    )


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.deep = double(1, 8), double(8, 16), double(16, 16)
        self.up_two, self.up_one = nn.ConvTranspose2d(16, 16, 2, 2), nn.ConvTranspose2d(16, 8, 2, 2)
        self.back_two, self.back_one = double(32, 16), double(16, 8)
        self.out = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        one = self.one(x)
        two = self.two(nn.functional.max_pool2d(one, 2))
        deep = self.deep(nn.functional.max_pool2d(two, 2))
        two = self.back_two(torch.cat([self.up_two(deep), two], 1))
        return self.out(self.back_one(torch.cat([self.up_one(two), one], 1)))


def dice(logits, masks):
    shares = torch.sigmoid(logits)
    both = (shares * masks).sum((1, 2, 3))
    return 1 - ((2 * both + 1) / (shares.sum((1, 2, 3)) + masks.sum((1, 2, 3)) + 1)).mean()


model = Segmenter()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
losses = []
for step in range(50):
    images, masks = scenes(16)
    logits = model(images)
    loss = nn.functional.binary_cross_entropy_with_logits(logits, masks) + dice(logits, masks)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if step % 10 == 9:
        print(f"step {step + 1} loss {losses[-1]:.4f}")
print(f"loss from {losses[0]:.4f} to {losses[-1]:.4f}")
