"""Recorded ops made again: with other inputs, with other cotangents, or to check their rules."""
