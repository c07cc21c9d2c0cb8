import torch.nn as nn


def teacher(classes):
    return nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, classes))


def student(classes):
    return nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, classes))
