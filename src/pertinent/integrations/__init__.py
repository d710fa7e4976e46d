"""Pertinent inside other tools: LangChain, LlamaIndex, Haystack and pytest. Each module needs its extra."""
