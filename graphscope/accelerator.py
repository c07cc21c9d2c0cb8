"""What programs ask of `torch.accelerator`, answered honestly: there is none."""


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """None: there is no device but the CPU."""
