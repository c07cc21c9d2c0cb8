"""Cells on a dark ground: a small U-shaped net, cross-entropy plus dice."""
import torch

from unet.data import fields
from unet.losses import total_loss
from unet.net import UNet


def main():
    torch.manual_seed(230)
    net = UNet(1, 8)
    optimizer = torch.optim.AdamW(net.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=15, gamma=0.5)
    for step in range(1, 46):
        net.train()
        x, mask = fields(12)
        loss, dice = total_loss(net(x), mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 15 == 0:
            net.eval()
            with torch.no_grad():
                x, mask = fields(24)
                valid, dice = total_loss(net(x), mask)
            print(f"step {step} loss {loss.item():.4f} valid {valid.item():.4f} dice {dice:.3f}")


main()
