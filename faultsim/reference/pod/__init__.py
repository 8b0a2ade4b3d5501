"""A pod of cubes in plain Python: where its slices can be, and how many of them can be promised."""
