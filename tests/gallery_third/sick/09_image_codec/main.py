import torch
import torch.nn.functional as F
from torch.optim import Adam

from codec.model import Codec


def patches(n, size=16):
    """Smooth random patches."""
    rough = torch.randn(n, 1, 4, 4)
    return F.interpolate(rough, size=size, mode="bicubic", align_corners=False)


def main():
    torch.manual_seed(55)
    codec = Codec()
    optimizer = Adam(codec.parameters(), lr=4e-3)
    for step in range(1, 101):
        image = patches(24)
        restored, codes = codec(image)
        distortion = F.mse_loss(restored, image)
        optimizer.zero_grad(set_to_none=True)
        distortion.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"{step}: distortion {distortion:.4f}, {codec.rounder.bits(codes):.2f} bits per code")


if __name__ == "__main__":
    main()
