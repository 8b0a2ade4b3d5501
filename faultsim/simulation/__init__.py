"""From a run to the engine and back."""
