"""Takes a run to an engine and back."""
