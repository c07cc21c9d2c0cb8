"""The ops, a family a module: definitions only."""
