"""The index on a Qdrant server or cluster."""
