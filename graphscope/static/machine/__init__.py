"""Machine code: a graph as loops over arrays whose shapes are known, compiled by LLVM (the extra `compile`)."""
