"""One module a paper: its tables, figures and claims."""
