"""Suites that every adapter must pass, and parts for tests that need no model or files."""
