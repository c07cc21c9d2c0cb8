"""What programs ask of `torch.distributed` before they use it: it is not here, and one process works alone."""


def is_available() -> bool:
    """False."""
    return False


def is_initialized() -> bool:
    """False."""
    return False
