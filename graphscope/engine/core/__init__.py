"""The instrumented core: tensors, the one place where an op runs, the one place where a rule runs backward."""
