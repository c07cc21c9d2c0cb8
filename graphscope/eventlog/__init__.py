"""The event log: what can be said about a run, and how it is kept. Knows nothing of engines, graphs or screens."""
