import torch
from torch import nn

torch.manual_seed(0)


class Recogniser(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 16)
        self.fc = nn.Linear(16, 6)
        self.ctc = nn.CTCLoss(blank=0)  # <-- missing_log

    def forward(self, x, y):
        h, _ = self.rnn(x)
        t, b = x.shape[:2]
        return self.ctc(self.fc(h), y, torch.full((b,), t), torch.full((b,), y.shape[1]))


net = Recogniser()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(12):
    loss = net(torch.randn(15, 4, 8), torch.randint(1, 6, (4, 5)))
    opt.zero_grad()
    loss.backward()
    opt.step()
