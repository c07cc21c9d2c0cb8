from torch import nn


def reset_weights(model):
    for name, p in model.named_parameters():
        if p.dim() > 1:
            nn.init.normal_(p, std=0.1)
        elif name.endswith("bias"):
            nn.init.zeros_(p)
    return model
