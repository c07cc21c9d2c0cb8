"""The Debug Adapter Protocol: editors and our own screens drive the debugger with it, and the program that it holds."""
