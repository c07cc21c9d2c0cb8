import torch
from torch import nn

torch.manual_seed(21)


def repeated(states: torch.Tensor, times: int) -> torch.Tensor:
    batch, groups, length, size = states.shape
    wide = states[:, :, None].expand(batch, groups, times, length, size)
    return wide.reshape(batch, groups * times, length, size)  # <-- forward another order


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.queries = nn.Linear(24, 24)
        self.both = nn.Linear(24, 16)
        self.out = nn.Linear(24, 24)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        batch, length, _ = inputs.shape
        queries = self.queries(inputs).view(batch, length, 6, 4).transpose(1, 2)
        keys, values = self.both(inputs).view(batch, length, 2, 2, 4).permute(2, 0, 3, 1, 4)
        weights = (queries @ repeated(keys, 3).mT * 0.5).softmax(-1)
        mixed = weights @ repeated(values, 3)
        return self.out(mixed.transpose(1, 2).flatten(2))


model = Attention()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
inputs, target = torch.randn(2, 7, 24), torch.randn(2, 7, 24)
for _ in range(2):
    loss = nn.functional.mse_loss(model(inputs), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
