"""Mixed precision on the processor: weights in float32, products in bfloat16."""

import torch
import torch.nn as nn

net = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(4),
    nn.Flatten(),
    nn.Linear(128, 4),
)
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
protos = torch.randn(4, 1, 8, 8)
for step in range(25):
    y = torch.randint(0, 4, (16,))
    x = protos[y] + 0.5 * torch.randn(16, 1, 8, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = net(x)
        loss = nn.functional.cross_entropy(logits.float(), y)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
