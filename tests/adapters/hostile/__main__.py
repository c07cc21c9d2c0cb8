"""Runs all of them, and prints what came of each as JSON."""

import json

import torch

from tests.adapters.hostile import HOSTILE, hooks, objects, outcome, passes, patches, references

__all__ = ["hooks", "objects", "passes", "patches", "references"]

torch.set_num_threads(1)
print(json.dumps({name: outcome(program) for name, program in HOSTILE.items()}))
