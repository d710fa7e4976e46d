"""An opened index: its stores, its builds, and the copy to servers."""
