"""Private compiled core; see README.md in this folder."""
