import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

conv1, conv2, fc = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1), nn.Linear(8 * 4 * 4, 5)
x, y = torch.randn(4, 3, 16, 16), torch.randint(0, 5, (4,))
parameters = [*conv1.parameters(), *conv2.parameters(), *fc.parameters()]
momentum = [torch.zeros_like(p) for p in parameters]
for _ in range(3):
    for p in parameters:
        p.grad = None
    h = F.pad(x, (1, 1, 1, 1))
    h = F.conv2d(h, conv1.weight, conv1.bias).relu()
    h = h.unfold(2, 2, 2).unfold(3, 2, 2).amax((-1, -2))
    h = F.max_pool2d(torch.relu(conv2(h)), kernel_size=2, stride=2)
    logits = F.linear(h.reshape(4, -1), fc.weight, fc.bias)
    log_p = logits - logits.logsumexp(1, keepdim=True)
    loss = -log_p.gather(1, y[:, None]).mean()
    loss.backward()
    with torch.no_grad():
        for p, m in zip(parameters, momentum):
            m.mul_(0.9).add_(p.grad)
            p -= 0.05 * m
