"""Real servers for the tests: where they come from, and how they are started and stopped."""
