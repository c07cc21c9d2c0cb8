"""Screens that come and go: help, breakpoints, search."""
