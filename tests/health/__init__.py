"""Checks of stored data."""
