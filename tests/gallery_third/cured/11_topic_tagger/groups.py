def count(parameters):
    return sum(p.numel() for p in parameters)


def two_speeds(model, slow, fast, log=print):
    """Parameter groups: the encoder learns slowly, the head fast."""
    head = [p for n, p in model.named_parameters() if n.startswith("head")]
    encoder = [p for n, p in model.named_parameters() if not n.startswith("head")]
    log(f"encoder {count(encoder)} weights at {slow}, head {count(head)} weights at {fast}")
    return [
        {"params": encoder, "lr": slow},
        {"params": head, "lr": fast},
    ]
