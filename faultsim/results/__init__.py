"""What a run leaves: columns, metrics, files."""
