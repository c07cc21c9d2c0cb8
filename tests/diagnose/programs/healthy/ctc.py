import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.LSTM(6, 8)
head = nn.Linear(8, 5)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()])
for step in range(8):
    x = torch.randn(10, 3, 6)
    lp = head(net(x)[0]).log_softmax(-1)
    loss = F.ctc_loss(
        lp, torch.randint(1, 5, (3, 7)), torch.tensor([10, 10, 4]), torch.tensor([3, 4, 7]), zero_infinity=True
    )
    opt.zero_grad()
    loss.backward()
    opt.step()
