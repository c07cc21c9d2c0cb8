import torch
from torch import nn

from aerial import aerial_photos
from nets import TinyUNet

torch.manual_seed(1)
photos, masks = aerial_photos(96)
net = TinyUNet()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)


def iou(pred, mask):
    hit = (pred & mask).sum()
    return (hit / ((pred | mask).sum() + 1)).item()


for epoch in range(10):
    for part in torch.randperm(80).split(16):
        out = net(photos[part])
        loss = criterion(out, masks[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        out = net(photos[80:])
    print(f"{epoch}: loss {loss.item():.4f} iou {iou(out > 0.0, masks[80:] > 0.5):.3f}")
