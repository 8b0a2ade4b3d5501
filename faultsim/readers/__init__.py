"""The only code that opens input files."""
