"""How the cost of a run grows: one module a row, each with a `ROW` (see `scaling.row.Row`)."""
