"""What the recorded source of a program says that no row does."""
