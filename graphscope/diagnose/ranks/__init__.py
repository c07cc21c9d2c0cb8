"""What is wrong among the ranks of a run: each log becomes a small track, and judges compare tracks one by one."""
