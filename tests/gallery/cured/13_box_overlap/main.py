"""Predicting one box per picture, trained on the overlap (1 - IoU)."""
import torch
from torch import nn

from detect.boxes import iou_loss


class BoxNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.GELU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, padding=1), nn.GELU(), nn.MaxPool2d(2),
        )
        self.fc = nn.Sequential(nn.Linear(8 * 16, 48), nn.ReLU(), nn.Linear(48, 4))

    def forward(self, img):
        raw = torch.sigmoid(self.fc(self.conv(img).flatten(1)))
        centre, size = raw[:, :2], 0.1 + raw[:, 2:]
        return torch.cat([centre - size / 2, centre + size / 2], dim=1)


def scenes(n, side=16):
    images = 0.1 * torch.randn(n, 1, side, side)
    boxes = torch.zeros(n, 4)
    for i in range(n):
        w, h = torch.randint(5, 12, (2,)).tolist()
        x = int(torch.randint(0, side - w, ()))
        y = int(torch.randint(0, side - h, ()))
        images[i, 0, y:y + h, x:x + w] += 1
        boxes[i] = torch.tensor([x, y, x + w, y + h]) / side
    return images, boxes


class Trainer:
    def __init__(self, lr=3e-3):
        self.net = BoxNet()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)

    def epoch(self, images, boxes, size=32):
        losses = []
        for part in torch.randperm(len(images)).split(size):
            loss = iou_loss(self.net(images[part]), boxes[part])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)


if __name__ == "__main__":
    torch.manual_seed(6)
    images, boxes = scenes(256)
    trainer = Trainer()
    for e in range(8):
        print(f"epoch {e} 1-IoU {trainer.epoch(images, boxes):.4f}")
