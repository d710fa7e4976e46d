"""An opened folder: its stores, its builds, and moving it to servers."""
