"""What programs ask of `torch.mps`, answered honestly: there is none."""


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: there are no random numbers but those of the CPU."""


def empty_cache() -> None:
    """Nothing: there is no cache."""
