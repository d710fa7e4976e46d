"""Golden sets: their model, their files, and the formats of others."""
