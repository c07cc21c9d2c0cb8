"""The tape: every node in the order in which it ran."""
