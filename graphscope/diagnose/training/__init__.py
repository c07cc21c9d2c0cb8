"""A training as a whole: data, objectives, parameters, optimizers and evaluations."""
