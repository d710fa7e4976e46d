"""Search: from a query to a ranked list of passages."""
