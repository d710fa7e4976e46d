"""Labels: resolve them to chunks, let people judge passages, and measure how far judges agree."""
