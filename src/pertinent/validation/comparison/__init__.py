"""Two reports side by side: what became better or worse, and how sure that is."""
