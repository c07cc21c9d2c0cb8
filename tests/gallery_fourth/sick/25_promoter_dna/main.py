import torch
from torch import nn

from genome import read_genome, to_codes
from scanner import Scanner

torch.manual_seed(25)
sequences, promoter = read_genome(400, torch.Generator().manual_seed(25))
codes = to_codes(sequences)
net = Scanner()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)

for epoch in range(10):
    right = 0
    for part in torch.randperm(400).split(40):
        out = net(codes[part])
        loss = criterion(out, promoter[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += (out.argmax(1) == promoter[part]).sum().item()
    print(f"epoch {epoch} loss {loss.item():.4f} accuracy {right / 400:.3f}")
