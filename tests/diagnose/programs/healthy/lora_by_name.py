import torch
from torch import nn

torch.manual_seed(0)


class LoRA(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base
        self.lora_a = nn.Parameter(torch.randn(2, base.in_features) * 0.1)
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, 2))

    def forward(self, x):
        return self.base(x) + x @ self.lora_a.t() @ self.lora_b.t()


net = nn.Sequential(LoRA(nn.Linear(6, 16)), nn.ReLU(), LoRA(nn.Linear(16, 2)))
net.requires_grad_(False)
for name, p in net.named_parameters():
    if "lora_" in name:
        p.requires_grad = True
for name, p in net.named_parameters():
    if "modules_to_save" in name or "classifier" in name or "lora_" in name:
        p.requires_grad_(True)
opt = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-2)
for epoch in range(8):
    x = torch.randn(32, 6)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
