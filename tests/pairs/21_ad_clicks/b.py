import torch
import torch.nn as nn
import torch.nn.functional as F


class Clicks(nn.Module):
    def __init__(self, fields=5, size=40, dim=8, dense=6):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(size, dim) for _ in range(fields))
        self.bottom = nn.Sequential(nn.Linear(dense, 16), nn.ReLU(), nn.Linear(16, dim))
        pairs = (fields + 1) * fields // 2
        self.top1 = nn.Linear(pairs + dim, 32)
        self.top2 = nn.Linear(32, 32)
        self.top3 = nn.Linear(32, 1)
        self.register_buffer("at", torch.tril_indices(fields + 1, fields + 1, offset=-1))

    def interact(self, d, embedded):
        stack = torch.stack([d, *embedded], dim=1)
        dots = stack @ stack.transpose(1, 2)
        return torch.cat([d, dots[:, self.at[0], self.at[1]]], dim=1)

    def forward(self, dense, sparse):
        d = self.bottom(dense)
        x = self.interact(d, [table(sparse[:, i]) for i, table in enumerate(self.tables)])
        x = F.relu(self.top1(x))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = self.top2(x)
        x = F.relu(x.float())
        return self.top3(x).squeeze(1)


def main():
    torch.manual_seed(88)
    model = Clicks()
    opt = torch.optim.Adagrad(model.parameters(), lr=0.02)
    for step in range(3):
        dense = torch.randn(24, 6)
        sparse = torch.randint(0, 40, (24, 5))
        click = (torch.rand(24) < 0.3).float()
        loss = F.binary_cross_entropy_with_logits(model(dense, sparse), click)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"step {step} logloss {loss.item():.6f}")


if __name__ == "__main__":
    main()
