import math

from torch import nn


def prior_bias(rate):
    return math.log(rate / (1 - rate)) * 2


def initialise(model, rate):
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.constant_(module.bias, prior_bias(rate))
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.05)
