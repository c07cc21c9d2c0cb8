import torch.nn.functional as F


def multitask_loss(out, target):
    smile = F.binary_cross_entropy_with_logits(out["smile"], target["smile"])
    pose = F.cross_entropy(out["pose"], target["pose"])
    age = F.l1_loss(out["age"], target["age"]).item()
    parts = {"smile": smile.item(), "pose": pose.item(), "age": age}
    return smile + 0.5 * pose + 2.0 * age, parts
