"""Surfaces: the library, the command line, HTTP and the page. Each parses, calls the engine and renders."""
