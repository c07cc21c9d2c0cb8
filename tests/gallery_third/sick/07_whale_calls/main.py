import torch
from torch.utils.data import DataLoader, TensorDataset

from preact import CallNet
from spectrogram import decibels, recording

torch.manual_seed(17)
kinds = torch.arange(4).repeat(60)
calls = torch.stack([decibels(recording(int(k))) for k in kinds])
loader = DataLoader(TensorDataset(calls, kinds), batch_size=24, shuffle=True)
net = CallNet(4)
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
loss_fn = torch.nn.CrossEntropyLoss()

for epoch in range(1, 7):
    hits, losses = 0, []
    for x, y in loader:
        out = net(x)
        loss = loss_fn(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        hits += int((out.argmax(dim=1) == y).sum())
    print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f}, accuracy {hits / len(calls):.2f}")
