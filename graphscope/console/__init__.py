"""A prompt like pdb's over the debugger: lines in, plain text out."""
