"""Health: whether the stored data is intact, and what to run if it is not."""
