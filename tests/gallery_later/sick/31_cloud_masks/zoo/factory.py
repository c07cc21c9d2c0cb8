import torch

from zoo.nets import SmallSeg

REGISTRY = {"small_seg": SmallSeg}


def build(name, pretrained=True, **options):
    net = REGISTRY[name](**options)
    if pretrained:
        net.load_state_dict(torch.load(f"{name}.pt"))
    return net.eval()
