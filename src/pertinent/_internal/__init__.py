"""Small helpers that every package may use: clock, cache, messages, progress, YAML, disk."""
