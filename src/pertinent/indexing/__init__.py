"""Indexing: from pages to chunks in the index."""
