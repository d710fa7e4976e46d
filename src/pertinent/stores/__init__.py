"""Stores: vector indexes and the catalog, one adapter per file or package."""
