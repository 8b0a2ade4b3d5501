"""The core in slow, plain Python, as a reference: for tests, for teaching and for trying out new policies."""
