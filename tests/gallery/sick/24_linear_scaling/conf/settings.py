from dataclasses import dataclass

REFERENCE_BATCH = 256


@dataclass
class Settings:
    base_lr: float = 2.4e-2
    batch_size: int = 256
    epochs: int = 90
    steps_per_epoch: int = 20
    weight_decay: float = 0.05
    seed: int = 0
    lr: float = 0.0

    @classmethod
    def load(cls, overrides):
        s = cls(**overrides)
        s.lr = s.base_lr * (s.batch_size // REFERENCE_BATCH)
        return s

    def __str__(self):
        return f"batch size {self.batch_size}, {self.epochs} epochs, weight decay {self.weight_decay}"
