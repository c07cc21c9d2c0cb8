from torch import nn

from codec.quantise import Rounder


class Codec(nn.Module):
    def __init__(self, ch=16, code=2):
        super().__init__()
        self.analysis = nn.Sequential(
            nn.Conv2d(1, ch, 3, stride=2, padding=1), nn.GELU(),
            nn.Conv2d(ch, ch, 3, stride=2, padding=1), nn.GELU(),
            nn.Conv2d(ch, code, 1),
        )
        self.rounder = Rounder()
        self.synthesis = nn.Sequential(
            nn.Conv2d(code, ch, 3, padding=1), nn.GELU(),
            nn.ConvTranspose2d(ch, ch, 4, stride=2, padding=1), nn.GELU(),
            nn.ConvTranspose2d(ch, 1, 4, stride=2, padding=1),
        )

    def forward(self, image):
        codes = self.rounder(4 * self.analysis(image))
        return self.synthesis(codes), codes
