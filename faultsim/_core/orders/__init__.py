"""The order of the queue: rules, expressions and functions, and the ways to sort by them."""
