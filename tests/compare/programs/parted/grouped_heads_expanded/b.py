import torch
from torch import nn

torch.manual_seed(21)


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
        keys = torch.cat([keys] * 3, 1)  # <-- forward another order
        values = torch.cat([values] * 3, 1)
        mixed = nn.functional.scaled_dot_product_attention(queries, keys, values)
        return self.out(mixed.transpose(1, 2).flatten(2))


model = Attention()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
inputs, target = torch.randn(2, 7, 24), torch.randn(2, 7, 24)
for _ in range(2):
    loss = nn.functional.mse_loss(model(inputs), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
