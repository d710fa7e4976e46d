"""Collections that another pipeline filled: read, and never written to."""
