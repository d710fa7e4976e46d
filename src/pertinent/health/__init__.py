"""Health: whether what is stored is sound, and what to run if not."""
