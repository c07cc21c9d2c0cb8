"""Stepping through a log with no screen: positions, breakpoints, commands. Screens call it and render its results."""
