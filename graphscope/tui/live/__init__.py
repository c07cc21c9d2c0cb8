"""A program that runs: the screen is a client of the debug adapter that holds it."""
