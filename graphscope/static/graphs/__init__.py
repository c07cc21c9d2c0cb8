"""Graphs of nodes and values: how they are built, differentiated, run, recorded and drawn."""
