"""Compare two reports: what is better or worse, and whether the difference is significant."""
