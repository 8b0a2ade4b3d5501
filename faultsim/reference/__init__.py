"""Slow, plain Python twins of the core: for tests, for teaching and for trying out a new policy."""
