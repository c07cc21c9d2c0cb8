import torch
import torch.nn as nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(5, 16)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


net = Net()
decay = (p for n, p in net.named_parameters() if n.endswith("weight"))
no_decay = [p for n, p in net.named_parameters() if n.endswith("bias")]
for p in decay:
    nn.init.xavier_uniform_(p)
opt = torch.optim.AdamW(  # <-- not_in_optimizer
    [{"params": decay, "weight_decay": 0.01}, {"params": no_decay, "weight_decay": 0.0}], lr=1e-2
)
for step in range(20):
    x = torch.randn(32, 5)
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
