"""Kinds of ore along a drill core: dilated convolutions, rare kinds weigh more, some places have no label."""

import torch
from torch import nn

KINDS, UNKNOWN = 4, -1


class Core(nn.Module):
    def __init__(self):
        super().__init__()
        self.stone = nn.EmbeddingBag(20, 6, mode="sum")
        self.near = nn.Conv1d(6, 10, 3, padding=1)
        self.far = nn.Conv1d(10, 10, 3, padding=2, dilation=2)
        self.norm = nn.InstanceNorm1d(10, affine=True)
        self.kind = nn.Conv1d(10, KINDS, 1)

    def forward(self, stones):
        b, t, n = stones.shape
        x = self.stone(stones.view(b * t, n)).view(b, t, 6).transpose(1, 2)
        x = torch.nn.functional.elu(self.near(x))
        x = self.norm(x + torch.nn.functional.elu(self.far(x)))
        return self.kind(nn.functional.max_pool1d(x, 3, stride=1, padding=1))


def cores(step):
    g = torch.Generator().manual_seed(240 + step)
    stones = torch.randint(20, (3, 12, 4), generator=g)
    kinds = stones.sum(-1) % KINDS
    kinds[torch.rand(kinds.shape, generator=g) < 0.25] = UNKNOWN
    return stones, kinds


if __name__ == "__main__":
    torch.manual_seed(24)
    core = Core()
    criterion = nn.CrossEntropyLoss(
        weight=torch.tensor([1.0, 2.0, 0.5, 1.5]), ignore_index=UNKNOWN, label_smoothing=0.1
    )
    optimizer = torch.optim.Adam(core.parameters(), lr=5e-3, eps=1e-5, weight_decay=0.01, amsgrad=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    for step in range(4):
        stones, kinds = cores(step)
        loss = criterion(core(stones), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(f"{step} {loss.item():.6f}")
