"""Adapters of rerankers: models that read a query and a passage together."""
