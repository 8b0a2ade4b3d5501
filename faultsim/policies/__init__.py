"""What a run can be told to do: frozen dataclasses, each with ``lower()``, which gives the plain dict the engines read."""
