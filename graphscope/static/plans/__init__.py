"""Graphs as plans of NumPy calls in memory that is planned ahead."""
