"""The series of a training: the loss of each backward pass, and what each update of a parameter did."""

from graphscope.graph.series.every_step import every_step, norms_of_steps, steps_made
from graphscope.graph.series.losses import LOSS, losses, unscaled
from graphscope.graph.series.updates import norms, updates

__all__ = ["LOSS", "every_step", "losses", "norms", "norms_of_steps", "steps_made", "unscaled", "updates"]
