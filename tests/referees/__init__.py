"""Other tools that say what a program computes."""
