import math

import torch


def recording(kind, length=512):
    t = torch.arange(length) / length
    start = (20, 40, 60, 80)[kind]
    sweep = (60, -10, 20, 60)[kind] + 5 * torch.randn(1)
    phase = 2 * math.pi * (start * t + 0.5 * sweep * t * t + torch.rand(1))
    return torch.sin(phase) + 0.2 * torch.randn(length)


def decibels(wave, window=64, hop=32, floor=-80.0):
    """Power spectrogram in units of 20 dB relative to its loudest cell, (1, bins, frames)."""
    spec = torch.stft(wave, window, hop, window=torch.hann_window(window), return_complex=True)
    power = spec.abs() ** 2
    db = 10 * torch.log10(power / power.max() + 1e-9)
    return db.clamp(min=floor)[None] / 20
