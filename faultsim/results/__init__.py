"""The results of a run: columns, metrics, files."""
