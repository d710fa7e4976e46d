"""Embedders: one file per provider."""
