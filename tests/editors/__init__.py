"""Editors as people use them: the real program, real keys and clicks, looked at from outside."""
