"""Golden sets: queries, and the places in the source that answer them."""
