import torch
import torch.nn as nn


class WindNet(nn.Module):
    def __init__(self, inp=7, width=20):
        super().__init__()
        self.fc1 = nn.Linear(inp, width)
        self.norm = nn.LayerNorm(width)
        self.fc2 = nn.Linear(width, width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        x = torch.relu(self.norm(self.fc1(x)))
        x = torch.relu(self.fc2(x))
        return self.out(x).squeeze(-1)


def make_optimizer(model, lr=0.02, weight_decay=0.5):
    decay = [p for p in model.parameters() if p.dim() > 1]
    plain = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": decay, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=lr)


def main():
    torch.manual_seed(64)
    model = WindNet()
    x = torch.randn(3, 20, 7)
    y = x[..., 0].clamp(min=0) ** 2 + 0.1 * torch.randn(3, 20)
    opt = make_optimizer(model)
    for step in range(3):
        loss = nn.functional.mse_loss(model(x[step]), y[step])
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
