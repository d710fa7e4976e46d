"""Labels: resolved to chunks, judged by people, and how far judges agree."""
