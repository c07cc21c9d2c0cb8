import os
import random

import torch


def setup(seed: int, precision: str = "float32") -> None:
    """Seeds, threads and the default type of this run."""
    random.seed(seed)
    torch.manual_seed(seed)
    os.environ["PYTHONHASHSEED"] = str(seed)
    torch.set_default_dtype(getattr(torch, precision))
    torch.set_num_threads(1)
